import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// A client that knows the receipts API by its public description alone works unchanged.
@Suite(.enabled(if: Python.isThere, "no python3 here")) struct DropInClientTests {
    private static var script: String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/receipts_client.py").path
    }

    /// Has the client upload something, and reads what it says of it.
    private func outcomes(
        _ uploads: [JSONObject], _ fixture: DaemonFixture, token: String = DaemonFixture.token
    ) async throws -> [JSONValue] {
        let file = fixture.folder.appending(path: "uploads-\(UUID().uuidString).json")
        try JSONValue.array(uploads.map { .object($0) }).serializedString()
            .write(to: file, atomically: true, encoding: .utf8)
        let answers = fixture.folder.appending(path: "answers-\(UUID().uuidString).json")
        try Data().write(to: answers)
        let output = try FileHandle(forWritingTo: answers)
        let client = try ChildProcess(
            ["python3", Self.script, fixture.api, file.path], environment: ["ACCESS_TOKEN": token],
            output: output.fileDescriptor)
        let status = try await client.ended
        try output.close()
        let text = try String(contentsOf: answers, encoding: .utf8)
        try #require(status == 0, "\(text)")
        return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }

    @Test func `it uploads receipts of both styles, and understands every answer`() async throws {
        try await DaemonFixture.with { fixture in
            let state = fixture.simulator.state
            let account = try state.createAccount(in: .sandbox).id
            try fixture.buy(account)
            let unified = try fixture.receipt(of: account)
            let transaction = try fixture.transactionReceipt(of: account)
            let outcomes = try await outcomes(
                [
                    [
                        "receipt": .string(unified), "user_identifier": "ann", "country_code": "DE",
                        "identifier_for_vendor": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "ip_address": "192.0.2.7",
                        "metadata": ["campaign": "spring", "prices": [1, 2.5]],
                    ],
                    ["receipt": .string(transaction), "user_identifier": "ann", "ip_address": "NULL"],
                    ["receipt": .string(try fixture.receipt(of: account, ReceiptForm(.alteredPayload)))],
                    ["receipt": "bm90aGluZw==", "country_code": "Germany"],
                    [:],
                ], fixture)
            try #require(outcomes.count == 5)
            #expect(outcomes[0]["outcome"] == "validated" && outcomes[1]["outcome"] == "validated")
            #expect(outcomes.prefix(2).map { $0["style"] } == ["unified", "transaction"])
            #expect(outcomes.prefix(2).allSatisfy { $0["environment"] == "sandbox" && $0["is_fraud"] == false })
            #expect(outcomes[0]["metadata"] == ["campaign": "spring", "prices": [1, 2.5]])
            #expect(outcomes[0]["ip_address"] == "192.0.2.7" && outcomes[1]["ip_address"] == .null)
            #expect(
                outcomes[0]["user_identifier"] == "ann" && outcomes[0]["bundle_id"] == .string(DaemonFixture.bundleID))
            #expect(outcomes[0]["in_app_purchases"]?.array?.count == 1)
            #expect(outcomes[1]["app_family_id"] == outcomes[0]["app_family_id"])
            #expect(outcomes[2]["outcome"] == "invalid signature" && outcomes[3]["outcome"] == "invalid payload")
            #expect(outcomes[3]["errors"]?.object?.keys.contains("country_code") == true)
            #expect(outcomes[4]["errors"]?.object?.keys == ["receipt"])
        }
    }

    @Test func `it learns of a bad token and of an App Store that is out of reach`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            try fixture.buy(account)
            let upload: JSONObject = ["receipt": .string(try fixture.receipt(of: account))]
            #expect(try await outcomes([upload], fixture, token: "wrong")[0]["outcome"] == "invalid token")
            let state = fixture.simulator.state
            state.inject(Fault(.status(503), operation: .getTransactionHistory))
            let queued = try await outcomes([upload], fixture)[0]
            #expect(queued["outcome"] == "queued" && queued["environment"] == "production")
            state.removeAllFaults()
            let validated = try await outcomes([upload], fixture)[0]
            #expect(validated["outcome"] == "validated" && validated["id"] == queued["id"])
            #expect(validated["created_at"] == queued["created_at"])
            state.inject(Fault(.status(503), operation: .getTransactionInfo))
            let old: JSONObject = ["receipt": .string(try fixture.transactionReceipt(of: account))]
            let waiting = try await outcomes([old], fixture)[0]
            #expect(waiting["outcome"] == "queued" && waiting["environment"] == "production")
        }
    }
}

/// The interpreter of the system, where the search path of our processes leads.
private enum Python {
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
}
