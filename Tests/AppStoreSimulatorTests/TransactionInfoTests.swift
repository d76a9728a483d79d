import AppStoreAPI
import AppStoreSimulator
import Curl
import JOSE
import JSON
import Testing

struct TransactionInfoTests {
    @Test func `a transaction comes back signed, in the environment it was made in`() async throws {
        for environment in SimulatedEnvironment.allCases {
            try await SimulatorFixture.with { fixture in
                let bought = try fixture.buyOnce(in: environment)
                let id = try #require(bought.transactionId)
                let response = try await fixture.call(.getTransactionInfo(transactionId: id), in: environment)
                #expect(response.status == 200)
                #expect(response.headers["Content-Type"] == "application/json")
                let info = try TransactionInfoResponse(parsing: response.body)
                var payload = try fixture.verified(info.signedTransactionInfo)
                #expect(payload.signedDate == fixture.clock.milliseconds)
                #expect(payload.environment == environment.wireValue)
                payload.signedDate = nil
                #expect(payload == bought)
            }
        }
    }

    @Test func `the signing date follows the clock`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.clock.advance(by: 86_400)
            let response = try await fixture.call(.getTransactionInfo(transactionId: id))
            let info = try TransactionInfoResponse(parsing: response.body)
            #expect(try fixture.verified(info.signedTransactionInfo).signedDate == fixture.clock.milliseconds)
        }
    }

    @Test func `ids look like Apple's`() async throws {
        try await SimulatorFixture.with { fixture in
            let sandbox = try #require(try fixture.buyOnce().transactionId)
            #expect(sandbox.hasPrefix("2000000"))
            #expect(sandbox.count == 16)
            let production = try #require(try fixture.buyOnce(in: .production).transactionId)
            #expect(production.count == 15)
        }
    }

    @Test(arguments: ["x", "12a", "-1", " 1", "1.0", "123456789012345678901", "\u{0661}"])
    func `an identifier that Apple never makes is invalid`(identifier: String) async throws {
        try await SimulatorFixture.with { fixture in
            try await fixture.expect(.invalidTransactionId, from: .getTransactionInfo(transactionId: identifier))
            try await fixture.expect(.invalidTransactionId, from: .getTransactionHistory(transactionId: identifier))
            try await fixture.expect(.invalidTransactionId, from: .getRefundHistory(transactionId: identifier))
        }
    }

    @Test func `an identifier that nobody has is not found`() async throws {
        try await SimulatorFixture.with { fixture in
            try await fixture.expect(.transactionIdNotFound, from: .getTransactionInfo(transactionId: "1"))
            try await fixture.expect(.transactionIdNotFound, from: .getTransactionHistory(transactionId: "1"))
            try await fixture.expect(.transactionIdNotFound, from: .getRefundHistory(transactionId: "1"))
        }
    }

    @Test func `a transaction of one environment is unknown in the other`() async throws {
        try await SimulatorFixture.with { fixture in
            for (made, asked) in [
                (SimulatedEnvironment.sandbox, SimulatedEnvironment.production), (.production, .sandbox),
            ] {
                let bought = try fixture.buyOnce(in: made)
                let id = try #require(bought.transactionId)
                let download = try #require(bought.appTransactionId)
                try await fixture.expect(
                    .transactionIdNotFound, from: .getTransactionInfo(transactionId: id), in: asked)
                try await fixture.expect(
                    .transactionIdNotFound, from: .getTransactionHistory(transactionId: id), in: asked)
                try await fixture.expect(
                    .transactionIdNotFound, from: .getRefundHistory(transactionId: download), in: asked)
            }
        }
    }

    @Test func `a transaction of another app of the team is unknown`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.register(
                RegisteredApp(bundleID: "com.example.other", appAppleID: 2, issuerID: SimulatorFixture.issuerID))
            let id = try #require(try fixture.buyOnce().transactionId)
            let token = try fixture.token { $0.others["bid"] = "com.example.other" }
            let response = try await fixture.call(.getTransactionInfo(transactionId: id), token: token)
            #expect(try ErrorPayload(parsing: response.body).errorCode == 4_040_010)
        }
    }

    @Test func `an app transaction id is refused where it does not belong`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().appTransactionId)
            try await fixture.expect(.appTransactionIdNotSupported, from: .getTransactionInfo(transactionId: id))
            try await fixture.expect(
                .appTransactionIdNotSupported, from: .sendConsumptionInformation(transactionId: id),
                body: Array("{}".utf8))
            try await fixture.expect(
                .appTransactionIdNotSupported, from: .sendConsumptionInformationV1(transactionId: id),
                body: Array("{}".utf8))
        }
    }
}
