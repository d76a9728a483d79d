import Foundation
import Logging
import Synchronization
import TestSupport

@testable import Domain

/// Callers in a store, in a registry over it, and everything that works on them; the digest of a token is made of its bytes.
final class CallerFixture: Sendable {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let actor = Domain.Actor.operator(uid: 501, claimedName: "ada")
    static let apps = AppCatalog([
        App(slug: "coins", bundleID: "com.example.coins"), App(slug: "gems", bundleID: "com.example.gems"),
    ])
    /// A caller of the configuration with a token, a certificate and a user.
    static let billing = ConfiguredCaller(
        Caller(name: "billing", scopes: ["coins": [.refundsRead]]),
        tokenDigests: [TestCode.authenticationCode(Array("billing's token".utf8))],
        bindings: [.certificate(uri: "spiffe://example.org/billing"), .uid(1000)])

    let store = InMemoryCallerStore()
    let audit = RememberedAudit()
    let time = Mutex(start)
    private let makeToken = TestCode.makeTokens()
    let counts = Mutex<[String: Int]>([:])

    /// A registry over the store, as each process has one.
    func registry(_ configured: [ConfiguredCaller] = [billing]) async throws -> CallerRegistry {
        let registry = CallerRegistry(
            configured: configured, now: { [self] in time.withLock(\.self) },
            counted: { [self] found in counts.withLock { $0 = found } })
        try await registry.refresh(from: store)
        return registry
    }

    func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    func administration(_ registry: CallerRegistry) -> CallerAdministration {
        CallerAdministration(
            store: store, registry: registry, apps: Self.apps, policy: { CallerPolicy() }, audit: audit,
            makeToken: makeToken, digest: TestCode.authenticationCode,
            now: { [self] in time.withLock(\.self) }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// `reading`: what is a JWT, and what it says.
    func resolver(
        _ registry: CallerRegistry, reading read: @escaping @Sendable (String) -> CallerToken? = { _ in nil }
    ) -> CallerResolver {
        let now: WallClock = { [self] in time.withLock(\.self) }
        return CallerResolver(
            registry: registry,
            tokens: CallerTokenChecker(
                issuerID: AccessFixture.issuerID, registry: registry, apps: Self.apps, now: now, read: read),
            digest: TestCode.authenticationCode, now: now)
    }

    func addition(
        _ name: String = "shop", scopes: [String: Set<Scope>] = ["coins": [.refundsRead]], givesToken: Bool = true,
        lifetime: Duration? = nil, bindings: Set<CallerBinding> = []
    ) -> CallerAddition {
        CallerAddition(
            name: name, scopes: scopes, givesToken: givesToken, tokenLifetime: lifetime, bindings: bindings)
    }
}

extension CallerResolver {
    /// Who presents this, and by what; nil with the cause where nobody does.
    func found(
        _ authorization: String?, peer: PeerIdentity = PeerIdentity()
    ) -> (name: String?, credential: String?, cause: String?) {
        do {
            let found = try resolve(PresentedCredentials(authorization: authorization, peer: peer))
            return (found.caller.name, found.credential.text, nil)
        } catch {
            return (nil, nil, error.cause)
        }
    }
}

extension PeerIdentity {
    static func certificate(_ uris: String...) -> PeerIdentity {
        PeerIdentity(certificate: ClientCertificate(uris: uris, notAfter: .distantFuture))
    }

    static func process(uid: UInt32, gid: UInt32) -> PeerIdentity {
        PeerIdentity(unixPeer: UnixPeer(uid: uid, gid: gid))
    }
}
