package import Domain
import Foundation
import Testing

/// What every store of callers must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct CallerStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any CallerStore

    package let testDescription: String
    private let check: @Sendable (any CallerStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any CallerStore) async throws -> Void) {
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

    package static let cases: [CallerStoreContract] =
        [
            CallerStoreContract("a key comes back as it was kept") { store in
                for key in [key("AAAAAAAAAA"), key("BBBBBBBBBB", caller: "billing", scopes: nil)] {
                    let isNew = try await store.addCallerKey(key)
                    #expect(isNew)
                    #expect(try await store.callerKey(id: key.id) == key)
                }
                #expect(try await store.callerKey(id: "CCCCCCCCCC") == nil)
            },
            CallerStoreContract("an id that is taken is taken for every caller") { store in
                let first = key("AAAAAAAAAA")
                let answers = [
                    try await store.addCallerKey(first),
                    try await store.addCallerKey(key("AAAAAAAAAA", caller: "billing", scopes: nil)),
                ]
                #expect(answers == [true, false])
                #expect(try await store.callerKeys() == [first])
            },
            CallerStoreContract("all keys come in the order of issue, revoked ones included") { store in
                let keys = ["DDDDDDDDDD", "AAAAAAAAAA", "CCCCCCCCCC"].map { key($0) }
                for key in keys { _ = try await store.addCallerKey(key) }
                _ = try await store.revokeCallerKey(id: "AAAAAAAAAA", caller: "shop", at: Date())
                #expect(try await store.callerKeys().map(\.id) == keys.map(\.id))
            },
            CallerStoreContract("a key is revoked once, and keeps the time of it") { store in
                let kept = key("AAAAAAAAAA")
                _ = try await store.addCallerKey(kept)
                let time = Date(timeIntervalSince1970: 1_700_000_100)
                let revoked = try await store.revokeCallerKey(id: kept.id, caller: "shop", at: time)
                #expect(revoked == kept.revoked(at: time))
                #expect(try await store.callerKey(id: kept.id) == revoked)
                #expect(try await store.revokeCallerKey(id: kept.id, caller: "shop", at: time + 60) == revoked)
            },
            CallerStoreContract("a key is revoked under its caller's name only") { store in
                let kept = key("AAAAAAAAAA")
                _ = try await store.addCallerKey(kept)
                #expect(try await store.revokeCallerKey(id: kept.id, caller: "billing", at: Date()) == nil)
                #expect(try await store.revokeCallerKey(id: "BBBBBBBBBB", caller: "shop", at: Date()) == nil)
                #expect(try await store.callerKey(id: kept.id) == kept)
            },
        ] + callers

    // MARK: Callers

    private static let time = Date(timeIntervalSince1970: 1_700_000_000.125)

    private static func caller(_ name: String = "shop", token: UInt8 = 1) -> StoredCaller {
        StoredCaller(
            name: name, createdAt: time,
            grants: ["coins": [.refundsRead, .consumptionWrite], "gems": [.linksRead]],
            tokens: [
                AccessToken(
                    id: "Token00\(token)", digest: [UInt8](repeating: token, count: 32), createdAt: time,
                    expiresAt: time + 60)
            ],
            bindings: [.certificate(uri: "spiffe://example.org/\(name)"), .uid(UInt32(token)), .gid(UInt32(token))])
    }

    private static let callers: [CallerStoreContract] = [
        CallerStoreContract("a caller comes back as it was kept, and as it was changed") { store in
            let added = try await store.updateCaller("shop") { _ in caller() }
            #expect(added.caller == caller() && added.name == "shop")
            #expect(try await store.callerRecords().callers == [caller()])
            let changed = try await store.updateCaller("shop") { known throws(ServiceError) in
                var caller = known ?? StoredCaller(name: "nobody", createdAt: time)
                caller.ungrant([.linksRead], for: "gems")
                caller.bindings.remove(.uid(1))
                caller.bindings.insert(.gid(9))
                let token = AccessToken(id: "Token002", digest: [UInt8](repeating: 2, count: 32), createdAt: time + 5)
                try caller.rotate(to: token, endingOthersAt: time + 30, at: time + 5)
                return caller
            }
            #expect(changed.caller?.tokens.map(\.id) == ["Token001", "Token002"])
            #expect(changed.caller?.tokens.first?.expiresAt == time + 30)
            #expect(changed.caller?.grants.keys.sorted() == ["coins"])
            #expect(try await store.callerRecords().callers == [changed.caller].compactMap(\.self))
        },
        CallerStoreContract("callers come by name, each with its own") { store in
            for (number, name) in ["shop", "billing", "admin"].enumerated() {
                _ = try await store.updateCaller(name) { _ in caller(name, token: UInt8(number)) }
            }
            let records = try await store.callerRecords()
            #expect(
                records.callers == [caller("admin", token: 2), caller("billing", token: 1), caller("shop", token: 0)])
        },
        CallerStoreContract("what stands for one caller stands for no other, and nothing else changes") { store in
            _ = try await store.updateCaller("shop") { _ in caller() }
            await #expect(throws: ServiceError(.callerConflict, "")) {
                try await store.updateCaller("billing") { _ in
                    StoredCaller(name: "billing", createdAt: time, bindings: [.gid(7), .uid(1)])
                }
            }
            #expect(try await store.callerRecords().callers == [caller()])
        },
        CallerStoreContract("a change that is refused changes nothing") { store in
            let added = try await store.updateCaller("shop") { _ in caller() }
            await #expect(throws: ServiceError(.callerNotFound, "")) {
                try await store.updateCaller("shop") { _ throws(ServiceError) in throw ServiceError(.callerNotFound, "")
                }
            }
            #expect(try await store.callerRecords().callers == [caller()])
            #expect(try await store.callerGeneration() == added.generation)
        },
        CallerStoreContract("a caller that is removed takes its tokens, bindings and uses along, and revokes its keys")
        { store in
            _ = try await store.updateCaller("shop") { _ in caller() }
            for key in [key("AAAAAAAAAA"), key("BBBBBBBBBB", caller: "billing")] {
                _ = try await store.addCallerKey(key)
            }
            try await store.noteCallerUses([
                CallerUse(caller: "shop", credential: .token(id: "Token001"), lastUsedAt: time),
                CallerUse(caller: "billing", credential: .key(id: "BBBBBBBBBB"), lastUsedAt: time),
            ])
            let removed = try await store.removeCaller("shop", revokingKeysAt: time + 1)
            #expect(removed != nil && removed?.caller == nil)
            #expect(try await store.removeCaller("shop", revokingKeysAt: time + 2) == nil)
            let records = try await store.callerRecords()
            #expect(records.callers.isEmpty)
            #expect(records.keys.map(\.revokedAt) == [time + 1, nil])
            #expect(try await store.callerUses().map(\.caller) == ["billing"])
            // Whatever proved it is free for others.
            let another = try await store.updateCaller("other") { _ in caller() }
            #expect(another.caller == caller())
        },
        CallerStoreContract("the keys of another caller of the name stay") { store in
            _ = try await store.updateCaller("shop") { _ in caller() }
            _ = try await store.addCallerKey(key("AAAAAAAAAA"))
            _ = try await store.removeCaller("shop", revokingKeysAt: nil)
            #expect(try await store.callerKey(id: "AAAAAAAAAA")?.revokedAt == nil)
        },
        CallerStoreContract("every change of callers and keys is counted, and nothing else") { store in
            var generations = [try await store.callerGeneration()]
            func note() async throws { generations.append(try await store.callerGeneration()) }
            let added = try await store.updateCaller("shop") { _ in caller() }
            try await note()
            #expect(added.generation == generations.last)
            _ = try await store.addCallerKey(key("AAAAAAAAAA"))
            try await note()
            _ = try await store.revokeCallerKey(id: "AAAAAAAAAA", caller: "shop", at: time)
            try await note()
            _ = try await store.removeCaller("shop", revokingKeysAt: time)
            try await note()
            #expect(zip(generations, generations.dropFirst()).allSatisfy { $0 < $1 })
            try await store.noteCallerUses([CallerUse(caller: "a", credential: .binding(.uid(1)), lastUsedAt: time)])
            _ = try await store.removeCaller("shop", revokingKeysAt: time)
            _ = try await store.revokeCallerKey(id: "AAAAAAAAAA", caller: "shop", at: time)
            #expect(try await store.callerGeneration() == generations.last)
        },
        CallerStoreContract("the latest use of each credential is kept") { store in
            let uses = [
                CallerUse(caller: "billing", credential: .key(id: "AAAAAAAAAA"), lastUsedAt: time),
                CallerUse(
                    caller: "shop", credential: .binding(.certificate(uri: "spiffe://example.org/shop:1")),
                    lastUsedAt: time + 1),
                CallerUse(caller: "shop", credential: .token(id: "Token001"), lastUsedAt: time + 9),
            ]
            try await store.noteCallerUses(uses)
            try await store.noteCallerUses([
                CallerUse(caller: "shop", credential: .token(id: "Token001"), lastUsedAt: time + 2)
            ])
            #expect(try await store.callerUses() == uses)
        },
    ]
}
