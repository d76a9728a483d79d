import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct KeyStoreTests {
    @Test(arguments: KeyStoreContract.cases)
    func `the store keeps imported keys`(contract: KeyStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open(nil) }
    }

    @Test(arguments: KeyStoreContract.cases)
    func `the store of tests keeps imported keys`(contract: KeyStoreContract) async throws {
        try await contract.run { InMemoryKeyStore() }
    }

    @Test func `two active keys of one app are refused`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        let roles = ["A", "B"].map { keyID in
            KeyRole(
                app: "coins", keyID: keyID, kind: .active, cause: .operator, declaredKeyID: nil,
                since: Date(timeIntervalSince1970: 0))
        }
        await #expect(throws: ServiceError(.storeUnavailable, "")) {
            try await store.replaceKeyStates(KeyStates(roles: Set(roles)))
        }
        #expect(try await store.keyStates() == KeyStates())
    }

    @Test func `the sealed bytes of a deleted key are overwritten in the file`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open(nil)
        let marker = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let key = ImportedKey(
            keyID: "A", issuerID: "issuer", apps: ["coins"], fingerprint: [1], importedAt: time, importedBy: "daemon")
        _ = try await store.addImportedKey(
            key,
            sealed: SealedSecretRecord(
                kind: .signingKey, name: "A", sealed: marker, masterKeyID: "m", createdAt: time))
        func isInFile() throws -> Bool {
            let bytes = try Data(contentsOf: URL(filePath: folder.path))
            return bytes.firstRange(of: Data(marker)) != nil
        }
        try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        #expect(try isInFile())
        #expect(try await store.deleteImportedKey(id: "A"))
        try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        #expect(try !isInFile())
    }

    @Test func `take-overs of a release before become roles: the last is in force, the others retired`() async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: "0012 key take-overs")
        try await queue.write { database in
            for (app, refused, key, at) in [
                ("coins", "A", "B", 2000), ("coins", "B", "C", 1000), ("gems", "A", "B", 3000),
            ] {
                try database.execute(
                    sql: "INSERT INTO keyTakeover (app, refusedKeyId, keyId, at) VALUES (?, ?, ?, ?)",
                    arguments: [app, refused, key, at])
            }
        }
        try queue.close()
        let store = try await folder.open(nil)
        func role(_ app: String, _ key: String, _ kind: KeyRole.Kind, _ replaced: String?, _ at: Double) -> KeyRole {
            KeyRole(
                app: app, keyID: key, kind: kind, cause: .takeover, replacedKeyID: replaced, declaredKeyID: "A",
                since: Date(timeIntervalSince1970: at))
        }
        #expect(
            try await store.keyStates().roles == [
                role("coins", "C", .active, "B", 1), role("coins", "A", .retired, nil, 2),
                role("coins", "B", .retired, nil, 1), role("gems", "B", .active, "A", 3),
                role("gems", "A", .retired, nil, 3),
            ])
    }
}
