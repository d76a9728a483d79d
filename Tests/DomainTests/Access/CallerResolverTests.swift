import Foundation
import TestSupport
import Testing

@testable import Domain

/// Which caller a request comes from, by whatever it comes with.
struct CallerResolverTests {
    private let fixture = CallerFixture()

    /// The caller `shop` with a token, a certificate, a user, a group and a key.
    private func shop() async throws -> (registry: CallerRegistry, token: String) {
        let registry = try await fixture.registry()
        let issued = try await fixture.administration(registry).add(
            fixture.addition(
                bindings: [.certificate(uri: "spiffe://example.org/shop"), .uid(2000), .gid(3000)]),
            by: CallerFixture.actor)
        let key = CallerKey(
            id: "AAAAAAAAAA", caller: "shop", app: "coins", publicKey: Array("AAAAAAAAAA".utf8), scopes: nil,
            createdAt: CallerFixture.start)
        _ = try await fixture.store.addCallerKey(key)
        registry.apply(key)
        return (registry, issued.token?.text ?? "")
    }

    @Test func `every way in leads to the same caller`() async throws {
        let (registry, token) = try await shop()
        let resolver = fixture.resolver(registry) { $0 == "a.b.c" ? AccessFixture.token(signedBy: "AAAAAAAAAA") : nil }
        let ways: [(PresentedCredentials, String)] = [
            (PresentedCredentials(authorization: "Bearer \(token)"), "token:"),
            (PresentedCredentials(authorization: "bearer a.b.c"), "key:AAAAAAAAAA"),
            (
                PresentedCredentials(authorization: nil, peer: .certificate("spiffe://example.org/shop")),
                "certificate:spiffe://example.org/shop"
            ),
            (PresentedCredentials(authorization: nil, peer: .process(uid: 2000, gid: 1)), "uid:2000"),
            (PresentedCredentials(authorization: nil, peer: .process(uid: 1, gid: 3000)), "gid:3000"),
        ]
        for (presented, credential) in ways {
            let found = try resolver.resolve(presented)
            #expect(found.caller == Caller(name: "shop", scopes: ["coins": [.refundsRead]]))
            #expect(found.credential.text.hasPrefix(credential))
            #expect((found.app?.slug == "coins") == credential.hasPrefix("key"), "a key is for one app")
        }
        let uses = registry.uses(of: "shop")
        #expect(uses.count == ways.count && uses.values.allSatisfy { $0 == CallerFixture.start })
    }

    @Test func `callers of the configuration come in the same ways`() async throws {
        let resolver = fixture.resolver(try await fixture.registry())
        for found in [
            resolver.found("Bearer billing's token"),
            resolver.found(nil, peer: .certificate("https://example.org", "spiffe://example.org/billing")),
            resolver.found(nil, peer: .process(uid: 1000, gid: 0)),
        ] {
            #expect(found.name == "billing")
        }
    }

    @Test func `what is said decides before what the connection shows, and nothing falls back`() async throws {
        let (registry, token) = try await shop()
        let resolver = fixture.resolver(registry)
        let billing = PeerIdentity.certificate("spiffe://example.org/billing")
        #expect(resolver.found("Bearer \(token)", peer: billing).name == "shop")
        for wrong in ["Bearer wrong", "Bearer ", "", "Basic YTpi", "Bearer \(token.dropLast())"] {
            #expect(resolver.found(wrong, peer: billing).name == nil, "\(wrong)")
            #expect(resolver.found(wrong, peer: .process(uid: 1000, gid: 3000)).name == nil, "\(wrong)")
        }
        let both = PeerIdentity(
            unixPeer: .init(uid: 1000, gid: 0),
            certificate: .init(uris: ["spiffe://example.org/nobody"], notAfter: .distantFuture))
        #expect(resolver.found(nil, peer: both).cause?.contains("no URI") == true)
        #expect(
            resolver.found(nil, peer: .process(uid: 1000, gid: 3000)).name == "billing", "the user before the group")
        let two = PeerIdentity.certificate("spiffe://example.org/shop", "spiffe://example.org/billing")
        #expect(resolver.found(nil, peer: two).cause?.contains("several callers") == true)
        #expect(resolver.found(nil).cause == "nothing was presented")
        #expect(resolver.found(nil, peer: .certificate()).name == nil)
    }

    @Test func `the cause names a token by what is no secret, and tells the mistyped from the unknown`() async throws {
        let (registry, token) = try await shop()
        let resolver = fixture.resolver(registry)
        let id = String(token.dropFirst(4).prefix(8))
        let unknown = OpaqueToken.generate { [UInt8](repeating: 77, count: $0) }
        #expect(resolver.found("Bearer \(unknown.text)").cause == "token \(unknown.id) is unknown or revoked")
        var mistyped = token
        mistyped.removeLast()
        mistyped += token.hasSuffix("x") ? "y" : "x"
        #expect(resolver.found("Bearer \(mistyped)").cause?.contains("checksum") == true)
        _ = try await fixture.administration(registry).revoke(token: id, of: "shop", by: CallerFixture.actor)
        let revoked = resolver.found("Bearer \(token)").cause
        #expect(revoked == "token \(id) is unknown or revoked")
        for cause in [revoked, resolver.found("Bearer \(mistyped)").cause] { #expect(cause?.contains(token) == false) }
    }

    @Test func `a token is good until the moment at which it ends`() async throws {
        let registry = try await fixture.registry()
        let issued = try await fixture.administration(registry).add(
            fixture.addition(lifetime: .seconds(60)), by: CallerFixture.actor)
        let authorization = "Bearer \(issued.token?.text ?? "")"
        let resolver = fixture.resolver(registry)
        fixture.advance(59.999)
        #expect(resolver.found(authorization).name == "shop")
        fixture.advance(0.001)
        #expect(resolver.found(authorization).cause?.contains("has expired") == true)
    }

    @Test func `ten thousand callers cost a look-up, not a search`() async throws {
        var index = CallerIndex(configured: [])
        for number in 0..<10_000 {
            let digest = TestCode.authenticationCode(Array("token \(number)".utf8))
            index.set(
                StoredCaller(
                    name: "caller-\(number)", createdAt: CallerFixture.start, grants: ["coins": [.refundsRead]],
                    tokens: [AccessToken(id: "\(number)", digest: digest, createdAt: CallerFixture.start)],
                    bindings: [.uid(UInt32(number))]),
                named: "caller-\(number)")
        }
        for number in [0, 4711, 9999] {
            let digest = TestCode.authenticationCode(Array("token \(number)".utf8))
            #expect(index.token(digest)?.caller == "caller-\(number)")
            #expect(index.owner(of: .uid(UInt32(number))) == "caller-\(number)")
        }
        #expect(index.callersByApp(at: CallerFixture.start) == ["coins": 10_000])
        for number in 0..<10_000 { index.set(nil, named: "caller-\(number)") }
        #expect(index.names.isEmpty && index.token(TestCode.authenticationCode(Array("token 1".utf8))) == nil)
    }
}
