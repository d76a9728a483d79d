import Foundation
import TestSupport

@testable import Domain

/// Callers, keys and tokens whose signatures are plain words: a token is signed by the key whose bytes it names.
struct AccessFixture {
    static let issuerID = "11111111-2222-3333-4444-555555555555"
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let apps = AppCatalog([
        App(slug: "coins", bundleID: "com.example.coins"), App(slug: "gems", bundleID: "com.example.gems"),
    ])
    static let billing = Caller(name: "billing", scopes: ["coins": [.refundsRead]])

    let store = InMemoryCallerStore()

    /// Keeps a key that nobody had to ask for; with scopes, its caller too.
    func keep(
        _ id: String, caller: String = "shop", app: String = "coins", scopes: Set<Scope>? = [.transactionsRead]
    ) async throws {
        let key = CallerKey(
            id: id, caller: caller, app: app, publicKey: Array(id.utf8), scopes: scopes, createdAt: Self.now)
        if let scopes {
            _ = try await store.updateCaller(caller) { _ in
                StoredCaller(name: caller, createdAt: Self.now, grants: [app: scopes])
            }
        }
        _ = try await store.addCallerKey(key)
    }

    /// A token that is right, signed by the key with this id.
    static func token(signedBy id: String) -> CallerToken {
        var token = CallerToken { $0 == Array(id.utf8) }
        token.keyID = id
        token.type = "JWT"
        token.issuer = issuerID
        token.audience = ["appstoreconnect-v1"]
        token.issuedAt = now
        token.expiresAt = now + 300
        token.bundleID = "com.example.coins"
        return token
    }

    /// What the checker says of a token.
    func finding(
        _ token: CallerToken?, configured: [Caller] = [billing], apps: AppCatalog = apps
    ) async throws -> CallerTokenChecker.Finding {
        let registry = CallerRegistry(configured: configured.map { ConfiguredCaller($0) }, now: { Self.now })
        try await registry.refresh(from: store)
        return CallerTokenChecker(
            issuerID: Self.issuerID, registry: registry, apps: apps, now: { Self.now }, read: { _ in token }
        ).finding(on: "token")
    }

    /// The bearer of a token that must be right.
    func bearer(_ token: CallerToken?, configured: [Caller] = [billing]) async throws -> AuthenticatedCaller {
        let finding = try await finding(token, configured: configured)
        guard case .bearer(let bearer) = finding else { throw ServiceError(.unauthenticated, "\(finding)") }
        return bearer
    }

    /// Why the checker refuses a token; nil when it does not.
    func fault(_ token: CallerToken?) async throws -> String? {
        switch try await finding(token) {
        case .bearer: nil
        case .refused(let cause, _): cause
        case .notAToken: "no JWT signed with ES256"
        }
    }
}
