import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Tokens for Apple that callers use themselves.
struct TokenRoutesTests {
    private let path = "/v1/apps/coins/tokens"

    @Test func `a caller with the scope gets a token, its end and the key's id`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(.post, path)
        #expect(reply.status == 200)
        let answer = try reply.json
        #expect(answer["token"] == "token of coins" && answer["keyId"]?.string == FakeSignatures.keyID)
        #expect(answer["expiresAt"] == "2023-11-14T22:23:20.000Z")
        #expect(Set(answer.object?.keys.map(\.self) ?? []) == ["token", "expiresAt", "keyId"])
        #expect(try await fixture.send(.get, path).status == 405)
    }

    @Test func `no other scope gives one`() async throws {
        let fixture = try await RequestHandlerFixture(scopes: Set(Scope.allCases).subtracting([.tokensMint]))
        let reply = try await fixture.send(.post, path)
        #expect(reply.status == 403)
        #expect(try reply.json["detail"]?.string?.contains("tokens:mint") == true)
    }
}
