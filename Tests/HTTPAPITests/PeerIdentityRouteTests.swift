import Domain
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Callers by what their connection proves, without a token.
struct PeerIdentityRouteTests {
    private static let uri = "spiffe://example.org/billing"

    private func status(
        _ identity: PeerIdentity, _ bindings: Set<CallerBinding>, token: String? = nil
    ) async throws -> Int {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let fixture = RequestHandlerFixture(stack, scopes: [.refundsRead], bindings: bindings)
        return try await fixture.send(.get, "/v1/apps", token: token, provenBy: identity).status
    }

    private func certificate(_ uris: [String], until end: Date) -> PeerIdentity {
        PeerIdentity(certificate: .init(uris: uris, notAfter: end))
    }

    @Test func `a certificate proves its caller until its last moment, on whatever connection it came`() async throws {
        let bindings: Set = [CallerBinding.certificate(uri: Self.uri)]
        let now = ServiceStack.now
        #expect(try await status(certificate([Self.uri], until: now), bindings) == 200)
        #expect(try await status(certificate([Self.uri], until: now.addingTimeInterval(-1)), bindings) == 401)
        #expect(try await status(certificate(["\(Self.uri)/"], until: now), bindings) == 401)
        #expect(try await status(certificate([], until: now), bindings) == 401)
        #expect(try await status(PeerIdentity(), bindings) == 401)
    }

    @Test func `an expired certificate hides no token, and a wrong token no certificate makes good`() async throws {
        let bindings: Set = [CallerBinding.certificate(uri: Self.uri)]
        let (now, token) = (ServiceStack.now, RequestHandlerFixture.token)
        let expired = certificate([Self.uri], until: now.addingTimeInterval(-1))
        #expect(try await status(expired, bindings, token: token) == 200)
        #expect(try await status(certificate([Self.uri], until: now), bindings, token: "prs_wrong") == 401)
    }

    @Test func `the user of a process proves its caller`() async throws {
        let bindings: Set = [CallerBinding.uid(1004)]
        #expect(try await status(PeerIdentity(unixPeer: .init(uid: 1004, gid: 1)), bindings) == 200)
        #expect(try await status(PeerIdentity(unixPeer: .init(uid: 1005, gid: 1004)), bindings) == 401)
        #expect(try await status(PeerIdentity(unixPeer: .init(uid: 0, gid: 0)), bindings) == 401)
    }
}
