package import Domain
import Foundation
import Testing

/// What every store of sealed secrets must do.
package struct SealedSecretStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any SealedSecretStore

    package let testDescription: String
    private let check: @Sendable (any SealedSecretStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any SealedSecretStore) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static func secret(
        _ name: String, _ byte: UInt8, kind: SealedSecretRecord.Kind = .installation, masterKey: String = "m1"
    ) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: kind, name: name, sealed: [0, byte, 255], masterKeyID: masterKey,
            createdAt: Date(timeIntervalSince1970: 1_700_000_000.125))
    }

    package static let cases: [SealedSecretStoreContract] = [
        SealedSecretStoreContract("a secret comes back as it was kept, by kind and name") { store in
            let secrets = [secret("a", 1), secret("b", 2), secret("a", 3, kind: .signingKey)]
            for record in secrets.reversed() {
                let kept = try await store.keepSealedSecret(record)
                #expect(kept == record)
            }
            #expect(try await store.sealedSecrets() == secrets)
        },
        SealedSecretStoreContract("the first secret of a name stays") { store in
            let first = try await store.keepSealedSecret(secret("a", 1))
            let again = try await store.keepSealedSecret(secret("a", 2))
            #expect(again == first)
            #expect(try await store.sealedSecrets() == [first])
        },
        SealedSecretStoreContract("secrets are sealed anew together; what stays out stays as it is") { store in
            for byte in UInt8(1)...4 { _ = try await store.keepSealedSecret(secret("s\(byte)", byte)) }
            let count = try await store.rewrapSealedSecrets { record in
                record.name == "s3" ? nil : record.replacing(sealed: record.sealed + [9], masterKeyID: "m2")
            }
            #expect(count == 3)
            let kept = try await store.sealedSecrets()
            #expect(kept.map(\.masterKeyID) == ["m2", "m2", "m1", "m2"])
            #expect(kept.map(\.sealed.count) == [4, 4, 3, 4])
            #expect(kept.allSatisfy { $0.createdAt == secret("", 0).createdAt })
        },
    ]
}
