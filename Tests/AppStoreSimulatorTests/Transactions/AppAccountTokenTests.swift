import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// Set App Account Token.
struct AppAccountTokenTests {
    private static let token = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"

    private func expect(
        _ error: APIErrorCode, _ fixture: SimulatorFixture, _ id: String, _ token: JSONValue = .string(token),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await fixture.expect(
            error, from: .setAppAccountToken(originalTransactionId: id),
            body: (["appAccountToken": token] as JSONValue).serialized(), sourceLocation: sourceLocation)
    }

    private func set(_ fixture: SimulatorFixture, _ id: String, _ token: String = token) async throws {
        let body: JSONValue = ["appAccountToken": .string(token)]
        let response = try await fixture.call(
            .setAppAccountToken(originalTransactionId: id), body: body.serialized())
        #expect(response.status == 200 && response.body.isEmpty)
    }

    @Test func `a purchase gets the token, in lower case, and can get another`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.buyOnce()
            let id = try #require(bought.transactionId)
            try await set(fixture, id, Self.token.uppercased())
            #expect(try fixture.state.transaction(id).appAccountToken == Self.token)
            let other = "0b0c8a5e-52a7-4d6f-8f55-4c0d5a4f1f0e"
            try await set(fixture, id, other)
            #expect(try fixture.state.transaction(id).appAccountToken == other)
        }
    }

    @Test func `of a subscription the present and later periods change`() async throws {
        try await SimulatorFixture.with { fixture in
            let first = try #require(
                try fixture.subscribe { $0.appAccountToken = "0b0c8a5e-52a7-4d6f-8f55-4c0d5a4f1f0e" }.transactionId)
            let second = try #require(try fixture.state.renew(first).transactionId)
            try await set(fixture, first)
            let third = try #require(try fixture.state.renew(first).transactionId)
            let tokens = try [first, second, third].map { try fixture.state.transaction($0).appAccountToken }
            #expect(tokens == ["0b0c8a5e-52a7-4d6f-8f55-4c0d5a4f1f0e", Self.token, Self.token])
        }
    }

    @Test func `each identifier that will not do has its error`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe(family: "f")
            let id = try #require(bought.transactionId)
            let renewed = try #require(try fixture.state.renew(id).transactionId)
            let shared = try #require(try fixture.share(renewed, family: "f").transactionId)
            let far = try #require(try fixture.buyOnce(in: .production).transactionId)
            try await expect(.transactionIdIsNotOriginalTransactionId, fixture, renewed)
            try await expect(.familyTransactionNotSupported, fixture, shared)
            try await expect(.appTransactionIdNotSupported, fixture, try #require(bought.appTransactionId))
            for id in [far, "1"] { try await expect(.originalTransactionIdNotFound, fixture, id) }
            try await expect(.invalidTransactionId, fixture, "x")
            #expect(try fixture.state.transaction(id).appAccountToken == nil)
        }
    }

    @Test func `only a UUID is a token`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            for token: JSONValue in ["", "alice", 1, nil] {
                try await expect(.invalidAppAccountTokenUUID, fixture, id, token)
            }
            try await fixture.expect(
                .invalidAppAccountTokenUUID, from: .setAppAccountToken(originalTransactionId: id),
                body: Array("{}".utf8))
            let none = try await fixture.call(.setAppAccountToken(originalTransactionId: id), body: [])
            #expect(none.status == 400 && none.body.isEmpty)
        }
    }
}
