import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct SealedSecretStoreTests {
    private func secret(_ name: String) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: .signingKey, name: name, sealed: [1], masterKeyID: "m1",
            createdAt: Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func keep(_ name: String, sealed: [UInt8] = [1], in store: SQLiteStore) async throws {
        let record = secret(name)
        let key = ImportedKey(
            keyID: name, issuerID: "issuer", apps: ["coins"], fingerprint: [1], importedAt: record.createdAt,
            importedBy: "daemon")
        _ = try await store.addImportedKey(key, sealed: record.replacing(sealed: sealed, masterKeyID: "m1"))
    }

    @Test func `secrets outlast the store's closing`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open(nil)
        try await keep("a", in: first)
        await first.close()
        let second = try await folder.open(nil)
        #expect(try await second.sealedSecrets() == [secret("a")])
    }

    @Test(arguments: [true, false])
    func `what was deleted or sealed anew is overwritten in the log, too`(isDeleted: Bool) async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        let marker = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        try await keep("a", sealed: marker, in: store)
        func isOnDisk() throws -> Bool {
            try [folder.path, "\(folder.path)-wal"].contains { path in
                try Data(contentsOf: URL(filePath: path)).firstRange(of: Data(marker)) != nil
            }
        }
        #expect(try isOnDisk())
        if isDeleted {
            _ = try await store.deleteImportedKey(id: "a")
        } else {
            _ = try await store.rewrapSealedSecrets { $0.replacing(sealed: [2], masterKeyID: "m2") }
        }
        #expect(try isOnDisk(), "in the log")
        try await store.overwriteRemoved()
        #expect(try !isOnDisk())
    }

    @Test func `a rewrap that fails midway changes nothing`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        for name in ["a", "b"] { try await keep(name, in: store) }
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
