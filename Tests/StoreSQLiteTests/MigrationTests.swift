import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct MigrationTests {
    @Test(arguments: Schema.migrator.migrations)
    func `a store of any earlier version comes forward with what it holds`(version: String) async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: version)
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO link (app, user, kind, value, source, createdAt, createdBy, userFolded)
                    VALUES ('coins', x'616c696365', 'transactionId', '1', 'declared', 100000, 'test', x'616c696365')
                    """)
        }
        try queue.close()
        let store = try await folder.open()
        let kept = try Link.sample(.transactionId, "1", user: "alice", created: 100)
        #expect(try await store.links(app: "coins", user: kept.user) == [kept])
        #expect(try await store.pool.read { try Schema.migrator.hasCompletedMigrations($0) })
    }

    @Test func `cursors that a release without epochs gave out are good up to its last event`() async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: "0006 ready deliveries by lane")
        try await queue.write { database in
            for position in 1...3 {
                try database.execute(
                    sql: "INSERT INTO event (app, kind, subject, at) VALUES ('coins', 'notification.received', ?, 1)",
                    arguments: ["n\(position)"])
            }
            try database.execute(sql: "DELETE FROM event")
        }
        try queue.close()
        let store = try await folder.open()
        _ = try await store.record(.sample("n4"))
        let bounds = try await store.eventBounds()
        #expect(bounds.latestWithoutEpoch == 3 && bounds.latest == 4)
    }

    @Test func `what was in quarantine comes forward, one of each`() async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: "0006 ready deliveries by lane")
        let signatures = ["a", "b"].map { String(repeating: $0, count: 86) }
        try await queue.write { database in
            try database.execute(
                sql: "INSERT INTO historyProgress (app, environment, completeUntil) VALUES ('coins', 'Sandbox', 1000)")
            for (app, signature, time) in [
                ("coins", signatures[0], 1000), ("coins", signatures[1], 2000), ("coins", signatures[0], 3000),
                ("gems", signatures[0], 4000),
            ] {
                try database.execute(
                    sql: "INSERT INTO quarantine (app, fault, receivedAt, signed) VALUES (?, 'bundleId', ?, ?)",
                    arguments: [app, time, "h.p.\(signature)"])
            }
        }
        try queue.close()
        let store = try await folder.open()
        let kept = try await store.quarantined(after: 0, limit: 10).map(\.notification)
        #expect(kept.map(\.app) == ["coins", "coins", "gems"])
        #expect(kept.map(\.identity) == [signatures[0], signatures[1], signatures[0]])
        #expect(kept.map(\.receivedAt.milliseconds) == [1000, 2000, 4000])
        #expect(kept.map(\.lastReceivedAt.milliseconds) == [3000, 2000, 4000])
        #expect(kept.allSatisfy { $0.source == .webhook && $0.fault == "bundleId" && $0.triedAt == nil })
        #expect(kept[0].keptUntil.milliseconds == 1000 + 180 * 86_400_000)
        let progress = try await store.historyProgress(app: "coins", environment: .sandbox)
        #expect(progress == HistoryProgress(completeUntil: Date(milliseconds: 1000)))
    }

    @Test func `an empty file becomes a store`() async throws {
        let folder = try StoreFolder()
        try Data().write(to: URL(filePath: folder.path))
        #expect(await (try await folder.open()).isUsable())
    }

    @Test func `a first start that was cut short is taken up again`() async throws {
        let folder = try StoreFolder()
        try folder.withForeignConnection { database in
            try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            try database.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        #expect(await (try await folder.open()).isUsable())
    }

    @Test func `a database of a newer version is refused by name`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open()).close()
        try folder.withForeignConnection {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999 from the future')")
        }
        let refusal = try await folder.failureOfOpening()
        #expect(refusal?.message.contains(folder.path) == true)
        #expect(refusal?.message.contains("newer version") == true)
        #expect(refusal?.cause?.contains("9999 from the future") == true)
    }
}

extension MigrationTests {
    @Test func `callers that existed by their keys alone become callers with what their keys allow`() async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: "0013 sealed secrets and imported keys")
        try await queue.write { database in
            for (id, caller, app, scopes, revokedAt) in [
                ("A", "shop", "coins", "refunds:read,links:read", nil), ("B", "shop", "gems", "refunds:read", nil),
                ("C", "shop", "coins", "users:erase", 5), ("D", "billing", "coins", nil, nil),
                ("E", "gone", "coins", "refunds:read", 5),
            ] as [(String, String, String, String?, Int64?)] {
                try database.execute(
                    sql: """
                        INSERT INTO callerKey (keyId, caller, app, publicKey, scopes, createdAt, revokedAt)
                        VALUES (?, ?, ?, x'00', ?, 1000, ?)
                        """,
                    arguments: [id, caller, app, scopes, revokedAt])
            }
        }
        try queue.close()
        let store = try await folder.open()
        let records = try await store.callerRecords()
        let time = Date(timeIntervalSince1970: 1)
        #expect(
            records.callers == [
                StoredCaller(name: "gone", createdAt: time),
                StoredCaller(
                    name: "shop", createdAt: time,
                    grants: ["coins": [.refundsRead, .linksRead], "gems": [.refundsRead]]),
            ])
        #expect(records.keys.map(\.id) == ["A", "B", "C", "D", "E"])
    }
}
