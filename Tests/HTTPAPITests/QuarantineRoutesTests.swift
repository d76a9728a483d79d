import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import HTTPAPI

/// Notifications that do not verify, as operators see them.
struct QuarantineRoutesTests {
    private func quarantined() async throws -> RequestHandlerFixture {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.fail("n.n1.n", with: ServiceError(.notificationMisdirected, "no", cause: "why"))
        let reply = try await fixture.send(
            .post, "/webhooks/apple/coins", body: #"{"signedPayload":"n.n1.n"}"#, token: nil, to: \.webhook)
        #expect(reply.status == 503)
        return fixture
    }

    @Test func `one is shown with what it says it is about, and without what was signed`() async throws {
        let fixture = try await quarantined()
        let list = try await fixture.send(.get, "/v1/quarantine", token: nil, to: \.admin).json
        let id = try #require(list["notifications"]?.array?.first?["id"]?.string)
        let reply = try await fixture.send(.get, "/v1/quarantine/\(id)", token: nil, to: \.admin)
        let shown = try reply.json
        #expect(reply.status == 200)
        #expect(shown["app"] == "coins" && shown["id"]?.string == id && shown["fault"] != nil)
        #expect(shown["subject"]?["bundleId"] == "com.example.other" && shown["subject"]?["notificationType"] == "TEST")
        #expect(shown["subject"]?["appAppleId"] == .null && shown["signed"] == nil)
    }

    @Test(arguments: ["0", "4711", "-1", "x", "9223372036854775807", "-9223372036854775808"])
    func `one that is not there is a 404`(id: String) async throws {
        let fixture = try await quarantined()
        let reply = try await fixture.send(.get, "/v1/quarantine/\(id)", token: nil, to: \.admin)
        #expect(reply.status == 404)
        #expect(try reply.json["type"] == "urn:purser:error:notification-not-found")
    }
}
