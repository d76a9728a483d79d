package import Domain
import Foundation
import Testing

/// What every store of imported keys must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct KeyStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any KeyStore

    package let testDescription: String
    private let check: @Sendable (any KeyStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any KeyStore) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static let time = Date(timeIntervalSince1970: 1_700_000_000.125)

    private static func key(_ id: String, seconds: TimeInterval = 0, apps: [String] = ["coins", "gems"]) -> ImportedKey
    {
        ImportedKey(
            keyID: id, issuerID: "issuer", apps: apps, fingerprint: [0, 7, 255], importedAt: time + seconds,
            importedBy: "operator:1000")
    }

    private static func sealed(_ id: String, _ byte: UInt8 = 1) -> SealedSecretRecord {
        SealedSecretRecord(kind: .signingKey, name: id, sealed: [byte], masterKeyID: "m1", createdAt: time)
    }

    private static func role(
        _ app: String, _ keyID: String, _ kind: KeyRole.Kind = .active, cause: KeyRole.Cause = .operator,
        replaced: String? = nil, declared: String? = nil
    ) -> KeyRole {
        KeyRole(
            app: app, keyID: keyID, kind: kind, cause: cause, replacedKeyID: replaced, declaredKeyID: declared,
            since: time)
    }

    package static let cases: [KeyStoreContract] = [
        KeyStoreContract("imported keys come back as they were kept, the oldest first") { store in
            for key in [key("B", seconds: 1), key("A", seconds: 2, apps: ["coins"]), key("C")] {
                let isNew = try await store.addImportedKey(key, sealed: sealed(key.keyID))
                #expect(isNew)
            }
            let kept = try await store.importedKeys()
            #expect(kept == [key("C"), key("B", seconds: 1), key("A", seconds: 2, apps: ["coins"])])
            let secrets = try await store.sealedSecrets()
            #expect(secrets == [sealed("A"), sealed("B"), sealed("C")])
        },
        KeyStoreContract("an id that is taken leaves key and bytes as they are") { store in
            _ = try await store.addImportedKey(key("A"), sealed: sealed("A"))
            let isNew = try await store.addImportedKey(key("A", apps: ["gems"]), sealed: sealed("A", 2))
            let (kept, secrets) = (try await store.importedKeys(), try await store.sealedSecrets())
            #expect(!isNew && kept == [key("A")] && secrets == [sealed("A")])
        },
        KeyStoreContract("a deleted key leaves nothing, and no other key goes with it") { store in
            for id in ["A", "B"] { _ = try await store.addImportedKey(key(id), sealed: sealed(id)) }
            try await store.replaceKeyStates(
                KeyStates(
                    roles: [role("coins", "A"), role("gems", "B")],
                    histories: ["A": KeyHistory(keyID: "A", firstSeenAt: time)]))
            let (first, second) = (
                try await store.deleteImportedKey(id: "A"), try await store.deleteImportedKey(id: "A")
            )
            #expect(first && !second)
            let (kept, secrets) = (try await store.importedKeys(), try await store.sealedSecrets())
            #expect(kept == [key("B")] && secrets == [sealed("B")])
            let states = try await store.keyStates()
            #expect(states == KeyStates(roles: [role("gems", "B")]))
        },
        KeyStoreContract("what was decided comes back, and takes the place of all that was") { store in
            let empty = try await store.keyStates()
            #expect(empty == KeyStates())
            let first = KeyStates(
                roles: [
                    role("coins", "A", cause: .takeover, replaced: "B", declared: "C"), role("coins", "B", .retired),
                    role("gems", "A", cause: .directory),
                ],
                histories: [
                    "A": KeyHistory(keyID: "A", firstSeenAt: time, lastUsedAt: time + 1),
                    "B": KeyHistory(keyID: "B", firstSeenAt: time, retiredAt: time + 2, revokedAt: time + 3),
                    "C": KeyHistory(keyID: "C", firstSeenAt: time, directoryFingerprint: "00ff"),
                ])
            try await store.replaceKeyStates(first)
            let kept = try await store.keyStates()
            #expect(kept == first)
            try await store.replaceKeyStates(KeyStates(roles: [role("coins", "D")]))
            let next = try await store.keyStates()
            #expect(next == KeyStates(roles: [role("coins", "D")]))
        },
        KeyStoreContract("secrets are sealed anew together; what stays out stays as it is") { store in
            let ids = (1...4).map { "S\($0)" }
            for id in ids { _ = try await store.addImportedKey(key(id), sealed: sealed(id)) }
            let count = try await store.rewrapSealedSecrets { record in
                record.name == "S3" ? nil : record.replacing(sealed: record.sealed + [9], masterKeyID: "m2")
            }
            #expect(count == 3)
            try await store.overwriteRemoved()
            let kept = try await store.sealedSecrets()
            #expect(kept.map(\.masterKeyID) == ["m2", "m2", "m1", "m2"])
            #expect(kept.map(\.sealed.count) == [2, 2, 1, 2])
            #expect(kept.allSatisfy { $0.createdAt == time })
        },
    ]
}
