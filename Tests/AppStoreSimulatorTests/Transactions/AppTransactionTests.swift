import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// Get App Transaction Info.
struct AppTransactionTests {
    private func appTransaction(
        _ fixture: SimulatorFixture, _ identifier: String?, in environment: SimulatedEnvironment = .sandbox
    ) async throws -> AppTransactionPayload {
        let answer = try await fixture.answer(
            AppTransactionInfoResponse.self, .getAppTransactionInfo(transactionId: try #require(identifier)),
            in: environment)
        return try AppTransactionPayload(parsing: fixture.verifiedPayload(answer.signedAppTransactionInfo))
    }

    @Test func `every identifier of the customer leads to it`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe()
            let renewed = try fixture.state.renew(try #require(bought.transactionId))
            for id in [bought.transactionId, renewed.transactionId, bought.appTransactionId] {
                let payload = try await appTransaction(fixture, id)
                #expect(payload.appTransactionId == bought.appTransactionId && payload.receiptType == .sandbox)
                #expect(payload.bundleId == SimulatorFixture.bundleID && payload.appAppleId == 1_234_567_890)
                #expect(payload.receiptCreationDate == fixture.clock.milliseconds)
                #expect(payload.originalPurchaseDate == bought.purchaseDate)
                #expect(payload.originalApplicationVersion == "1.0" && payload.originalPlatform == .iOS)
            }
        }
    }

    @Test func `it says what was set, the sandbox's version apart`() async throws {
        try await SimulatorFixture.with { fixture in
            let details: JSONValue = [
                "applicationVersion": "3.1", "versionExternalIdentifier": 77, "originalPurchaseDate": 1_600_000_000_000,
                "originalApplicationVersion": "2.0", "preorderDate": 1_590_000_000_000, "originalPlatform": "macOS",
            ]
            for (environment, version) in [(SimulatedEnvironment.production, "2.0"), (.sandbox, "1.0")] {
                let account = try fixture.state.createAccount(in: environment).id
                let id = try fixture.buy(by: account).transactionId
                let path = "/accounts/\(account)/app-transactions/\(SimulatorFixture.bundleID)"
                #expect(try await fixture.control("PUT", path, details).status == 200)
                let payload = try await appTransaction(fixture, id, in: environment)
                #expect(payload.applicationVersion == "3.1" && payload.versionExternalIdentifier == 77)
                #expect(payload.originalPurchaseDate == 1_600_000_000_000 && payload.originalPlatform == .macOS)
                #expect(payload.preorderDate == 1_590_000_000_000 && payload.originalApplicationVersion == version)
                let shown = try await fixture.control("GET", path)
                #expect(try AppTransactionPayload(parsing: shown.body) == payload)
            }
        }
    }

    @Test func `a customer may have none`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let id = try #require(try fixture.buy(by: account).transactionId)
            let path = "/accounts/\(account)/app-transactions/\(SimulatorFixture.bundleID)"
            #expect(try await fixture.control("DELETE", path).status == 204)
            try await fixture.expect(.appTransactionDoesNotExist, from: .getAppTransactionInfo(transactionId: id))
            #expect(try await fixture.control("GET", path).status == 404)
            #expect(try await fixture.control("PUT", path, [:]).status == 200)
            _ = try await appTransaction(fixture, id)
        }
    }

    @Test func `identifiers and bodies are judged as everywhere`() async throws {
        try await SimulatorFixture.with { fixture in
            let far = try #require(try fixture.buyOnce(in: .production).transactionId)
            for id in [far, "1"] {
                try await fixture.expect(.transactionIdNotFound, from: .getAppTransactionInfo(transactionId: id))
            }
            try await fixture.expect(.invalidTransactionId, from: .getAppTransactionInfo(transactionId: "x"))
            let account = try fixture.state.createAccount(in: .sandbox).id
            let path = "/accounts/\(account)/app-transactions/\(SimulatorFixture.bundleID)"
            for wrong: JSONValue in [["applicationVersion": 3], ["appTransactionId": "1"]] {
                #expect(try await fixture.control("PUT", path, wrong).status == 400)
            }
            #expect(try await fixture.control("PUT", "/accounts/\(account)/app-transactions/x", [:]).status == 404)
        }
    }

    @Test(arguments: [Tampering.wrongBundleId, .wrongEnvironment, .foreignRoot])
    func `faults tamper with it`(tampering: Tampering) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try fixture.buyOnce().transactionId
            fixture.state.inject(Fault(.tampering(tampering)))
            switch tampering {
            case .wrongBundleId:
                #expect(try await appTransaction(fixture, id).bundleId != SimulatorFixture.bundleID)
            case .wrongEnvironment:
                #expect(try await appTransaction(fixture, id).receiptType == .production)
            default:
                await #expect(throws: (any Error).self) { try await appTransaction(fixture, id) }
            }
        }
    }
}
