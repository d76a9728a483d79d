package import Domain
import Foundation
import Testing

/// What every store of caller keys must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct CallerKeyStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any CallerKeyStore

    package let testDescription: String
    private let check: @Sendable (any CallerKeyStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any CallerKeyStore) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static func key(
        _ id: String, caller: String = "shop", scopes: Set<Scope>? = [.refundsRead, .consumptionWrite]
    ) -> CallerKey {
        CallerKey(
            id: id, caller: caller, app: "coins", publicKey: [0, 1, 2, 255], scopes: scopes,
            createdAt: Date(timeIntervalSince1970: 1_700_000_000.125))
    }

    package static let cases: [CallerKeyStoreContract] = [
        CallerKeyStoreContract("a key comes back as it was kept") { store in
            for key in [key("AAAAAAAAAA"), key("BBBBBBBBBB", caller: "billing", scopes: nil)] {
                let isNew = try await store.addCallerKey(key)
                #expect(isNew)
                #expect(try await store.callerKey(id: key.id) == key)
            }
            #expect(try await store.callerKey(id: "CCCCCCCCCC") == nil)
        },
        CallerKeyStoreContract("an id that is taken is taken for every caller") { store in
            let first = key("AAAAAAAAAA")
            let answers = [
                try await store.addCallerKey(first),
                try await store.addCallerKey(key("AAAAAAAAAA", caller: "billing", scopes: nil)),
            ]
            #expect(answers == [true, false])
            #expect(try await store.callerKeys() == [first])
        },
        CallerKeyStoreContract("all keys come in the order of issue, revoked ones included") { store in
            let keys = ["DDDDDDDDDD", "AAAAAAAAAA", "CCCCCCCCCC"].map { key($0) }
            for key in keys { _ = try await store.addCallerKey(key) }
            _ = try await store.revokeCallerKey(id: "AAAAAAAAAA", caller: "shop", at: Date())
            #expect(try await store.callerKeys().map(\.id) == keys.map(\.id))
        },
        CallerKeyStoreContract("a key is revoked once, and keeps the time of it") { store in
            let kept = key("AAAAAAAAAA")
            _ = try await store.addCallerKey(kept)
            let time = Date(timeIntervalSince1970: 1_700_000_100)
            let revoked = try await store.revokeCallerKey(id: kept.id, caller: "shop", at: time)
            #expect(revoked == kept.revoked(at: time))
            #expect(try await store.callerKey(id: kept.id) == revoked)
            #expect(try await store.revokeCallerKey(id: kept.id, caller: "shop", at: time + 60) == revoked)
        },
        CallerKeyStoreContract("a key is revoked under its caller's name only") { store in
            let kept = key("AAAAAAAAAA")
            _ = try await store.addCallerKey(kept)
            #expect(try await store.revokeCallerKey(id: kept.id, caller: "billing", at: Date()) == nil)
            #expect(try await store.revokeCallerKey(id: "BBBBBBBBBB", caller: "shop", at: Date()) == nil)
            #expect(try await store.callerKey(id: kept.id) == kept)
        },
    ]
}
