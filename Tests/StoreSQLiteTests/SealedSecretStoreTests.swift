import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQLite

struct SealedSecretStoreTests {
    @Test(arguments: SealedSecretStoreContract.cases)
    func `the store keeps sealed secrets`(contract: SealedSecretStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open(nil) }
    }

    private func secret(_ name: String) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: .installation, name: name, sealed: [1], masterKeyID: "m1",
            createdAt: Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test func `secrets outlast the store's closing`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open(nil)
        _ = try await first.keepSealedSecret(secret("a"))
        await first.close()
        let second = try await folder.open(nil)
        #expect(try await second.sealedSecrets() == [secret("a")])
    }

    @Test func `a rewrap that fails midway changes nothing`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        for name in ["a", "b"] { _ = try await store.keepSealedSecret(secret(name)) }
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE UPDATE ON sealedSecret WHEN new.name = 'b'
                    BEGIN SELECT raise(ABORT, 'no'); END
                    """)
        }
        await #expect(throws: ServiceError.self) {
            try await store.rewrapSealedSecrets { $0.replacing(sealed: [2], masterKeyID: "m2") }
        }
        #expect(try await store.sealedSecrets() == [secret("a"), secret("b")])
    }

    @Test func `a kind that a newer version keeps is told, not taken for another`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        try await store.pool.write { database in
            try database.execute(
                sql: "INSERT INTO sealedSecret VALUES ('other', 'a', x'00', 'm1', 0)")
        }
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await store.sealedSecrets() }
    }
}
