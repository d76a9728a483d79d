import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JOSE
import JSON
import OpenSSL
import Testing

/// Receipts and signed data by the control port.
struct ReceiptControlTests {
    private func issue(
        _ fixture: SimulatorFixture, to account: String, _ members: JSONObject = [:]
    ) async throws -> JSONValue {
        let response = try await send(fixture, to: account, members)
        #expect(response.status == 201, "\(String(decoding: response.body, as: UTF8.self))")
        return try JSONValue(parsing: response.body)
    }

    private func send(
        _ fixture: SimulatorFixture, to account: String, _ members: JSONObject
    ) async throws -> HTTP1Client.Response {
        var body = members
        body["bundleId"] = body["bundleId"] ?? .string(SimulatorFixture.bundleID)
        return try await fixture.control("POST", "/accounts/\(account)/receipts", .object(body))
    }

    private func attributes(_ answer: JSONValue, _ fixture: SimulatorFixture) throws -> [ReceiptReader.Attribute] {
        let bytes = try #require(answer["receipt"]?.string.flatMap(Base64.decode))
        return try ReceiptReader.read(bytes, root: fixture.simulator.root, at: fixture.clock.now).get()
    }

    @Test func `a receipt holds what the account bought in the app`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let empty = try await issue(fixture, to: account)
            #expect(try attributes(empty, fixture).contains { $0.type == 17 } == false)
            let first = try fixture.buy(by: account)
            let second = try fixture.buy(by: account) {
                $0.type = .autoRenewableSubscription
                $0.offerType = .introductoryOffer
                $0.offerDiscountType = .freeTrial
            }
            try fixture.state.refund(#require(first.transactionId))
            let answer = try await issue(fixture, to: account)
            let ids = [first, second].map { $0.transactionId.map { JSONValue.string($0) } ?? .null }
            #expect(answer["transactionIds"] == .array(ids) && answer["style"] == "unified")
            let read = try attributes(answer, fixture)
            #expect(read.first { $0.type == 0 }?.text == "ProductionSandbox")
            #expect(read.first { $0.type == 2 }?.text == SimulatorFixture.bundleID)
            let purchases = try read.filter { $0.type == 17 }.map { try ReceiptReader.attributes($0.value) }
            #expect(
                purchases.map { $0.first { $0.type == 1703 }?.text } == [first.transactionId, second.transactionId])
            #expect(purchases[0].first { $0.type == 1712 }?.text != "", "what was refunded is cancelled")
            #expect(purchases[1].first { $0.type == 1719 }?.value == [2, 1, 1])
            #expect(purchases[1].first { $0.type == 1708 }?.text?.isEmpty == false)
        }
    }

    @Test func `it can be made to say something else`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .production).id
            _ = try fixture.buy(by: account)
            let device = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
            let answer = try await issue(
                fixture, to: account,
                [
                    "purchases": 3, "productId": "gems", "environment": "Production", "applicationVersion": "7",
                    "deviceIdentifier": .string(device), "statedBundleId": "com.example.other",
                    "unknownTransactions": true, "encoding": "indefiniteLengths", "digest": "SHA-1",
                    "signedAttributes": true,
                    "creationDate": .number(JSONNumber(fixture.clock.milliseconds - 86_400_000)),
                ])
            #expect(answer["bundleId"] == "com.example.other" && answer["environment"] == "Production")
            let read = try attributes(answer, fixture)
            func value(_ type: Int) throws -> [UInt8] { try #require(read.first { $0.type == type }).value }
            #expect(
                read.first { $0.type == 3 }?.text == "7" && read.first { $0.type == 2 }?.text == "com.example.other")
            let uuid = try #require(UUID(uuidString: device)).uuid
            let covered = try withUnsafeBytes(of: uuid, Array.init) + value(4) + value(2)
            #expect(try value(5) == DigestAlgorithm.sha1.digest(covered))
            let purchases = try read.filter { $0.type == 17 }.map { try ReceiptReader.attributes($0.value) }
            #expect(purchases.map { $0.first { $0.type == 1702 }?.text } == ["coins.100", "gems", "gems"])
            let ids = try #require(answer["transactionIds"]?.array).compactMap(\.string)
            #expect(ids.count == 3 && ids.allSatisfy { $0.hasSuffix("9") && $0.count == 16 })
        }
    }

    @Test func `the App Store knows the transactions of a receipt, of its own app alone`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let other = "com.example.other"
            try fixture.state.register(RegisteredApp(bundleID: other, appAppleID: 9, issuerID: "another"))
            _ = try fixture.buy(by: account)
            let foreign = try fixture.buy(by: account) { $0.bundleId = other }
            func id(_ members: JSONObject) async throws -> String {
                let answer = try await issue(fixture, to: account, members)
                return try #require(answer["transactionIds"]?.array?.first?.string)
            }
            let known = try await id([:])
            #expect(try await fixture.call(.getTransactionInfo(transactionId: known)).status == 200)
            #expect(try await fixture.call(.getAppTransactionInfo(transactionId: known)).status == 200)
            let elsewhere = try await id(["purchasesFrom": .string(other)])
            #expect(elsewhere == foreign.transactionId)
            for unknown in [elsewhere, try await id(["unknownTransactions": true])] {
                try await fixture.expect(.transactionIdNotFound, from: .getTransactionInfo(transactionId: unknown))
                try await fixture.expect(.transactionIdNotFound, from: .getAppTransactionInfo(transactionId: unknown))
                try await fixture.expect(
                    .transactionIdNotFound, from: .getTransactionHistory(transactionId: unknown, query: HistoryQuery()))
            }
        }
    }

    @Test(arguments: ReceiptTampering.allCases)
    func `each way to spoil one can be asked for`(_ tampering: ReceiptTampering) async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let answer = try await issue(
                fixture, to: account, ["purchases": 1, "tampering": .string(tampering.rawValue)])
            #expect(throws: (any Error).self) { try attributes(answer, fixture) }
        }
    }

    @Test func `there are Xcode's receipts and those of one transaction`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let id = try #require(try fixture.buy(by: account).transactionId)
            let xcode = try await issue(fixture, to: account, ["environment": "Xcode"])
            let bytes = try #require(xcode["receipt"]?.string.flatMap(Base64.decode))
            #expect(try CMSSignedData(ber: bytes).certificates.count == 1)
            let single = try await issue(
                fixture, to: account, ["purchases": 2, "style": "transaction", "transactionId": .string(id)])
            #expect(single["style"] == "transaction" && single["transactionIds"] == [.string(id)])
            let text = String(decoding: try #require(single["receipt"]?.string.flatMap(Base64.decode)), as: UTF8.self)
            #expect(text.contains("\"environment\" = \"Sandbox\";"))
        }
    }

    private static let mistakes: [(JSONObject, Int, String)] = [
        (["style": "legacy"], 400, "style"), (["style": "transaction"], 400, "transactionId"),
        (["style": "transaction", "transactionId": "1", "tampering": "foreignRoot"], 400, "tampering"),
        (["transactionId": "1"], 404, "no transaction 1"), (["digest": "MD5"], 400, "digest"),
        (["tampering": "magic"], 400, "tampering"), (["encoding": "XML"], 400, "encoding"),
        (["environment": "Moon"], 400, "environment"), (["deviceIdentifier": "phone"], 400, "deviceIdentifier"),
        (["purchases": -1], 400, "purchases"), (["purchasesFrom": "com.example.none"], 404, "com.example.none"),
        (["bundleId": "com.example.none"], 404, "com.example.none"), (["sort": "old"], 400, "sort"),
    ]

    @Test(arguments: mistakes)
    func `what makes no sense is refused`(_ members: JSONObject, _ status: Int, _ word: String) async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let response = try await send(fixture, to: account, members)
            #expect(response.status == status)
            #expect(try JSONValue(parsing: response.body)["error"]?.string?.contains(word) == true)
        }
    }

    // MARK: Signed data

    @Test func `what StoreKit gives a device can be had, and spoiled`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe()
            let path = "/transactions/\(try #require(bought.transactionId))/signed-data"
            let good = try JSONValue(parsing: try await fixture.control("GET", path).body)
            #expect(try fixture.verified(good["signedTransactionInfo"]?.string).transactionId == bought.transactionId)
            let renewal = try fixture.verifiedPayload(good["signedRenewalInfo"]?.string)
            #expect(try RenewalInfoPayload(parsing: renewal).originalTransactionId == bought.transactionId)
            let app = try fixture.verifiedPayload(good["signedAppTransactionInfo"]?.string)
            #expect(try AppTransactionPayload(parsing: app).appTransactionId == bought.appTransactionId)
            let realtime = try fixture.verifiedPayload(good["signedRealtimeRequest"]?.string)
            #expect(try RealtimeRequestPayload(parsing: realtime).originalTransactionId == bought.transactionId)
            for tampering in Tampering.allCases {
                let spoiled = try JSONValue(
                    parsing: try await fixture.control("GET", "\(path)?tampering=\(tampering.rawValue)").body)
                #expect(spoiled["signedTransactionInfo"] != nil)
                for name in good.object?.keys ?? [] {
                    let token = spoiled[name]?.string
                    switch tampering {
                    // Renewal information names no app.
                    case .wrongBundleId where name == "signedRenewalInfo": break
                    case .wrongBundleId, .wrongEnvironment:
                        #expect(try fixture.verifiedPayload(token) != fixture.verifiedPayload(good[name]?.string))
                    default: #expect(throws: (any Error).self) { try fixture.verifiedPayload(token) }
                    }
                }
            }
            #expect(try await fixture.control("GET", path + "?tampering=magic").status == 400)
            #expect(try await fixture.control("GET", path + "?spoil=yes").status == 400)
            #expect(try await fixture.control("GET", "/transactions/1/signed-data").status == 404)
        }
    }
}
