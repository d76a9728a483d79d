import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What the release before has written comes forward whole; what its users were promised is held in `HTTPAPITests`.
struct ReleaseBeforeTests {
    private func folder() throws -> StoreFolder {
        let folder = try StoreFolder()
        try folder.withForeignConnection { try $0.execute(sql: try ReleaseBefore.statements()) }
        return folder
    }

    @Test func `it is what that release made: its application id, its migrations and no other`() throws {
        try folder().withForeignConnection { database in
            #expect(try Int.fetchOne(database, sql: "PRAGMA application_id") == Schema.applicationID)
            let applied = try Schema.migrator.appliedMigrations(database)
            #expect(applied == Array(Schema.migrator.migrations.prefix(6)))
            #expect(try StoreIntegrity.faults(of: database) == [])
        }
    }

    @Test func `it opens, whole and with nothing lost`() async throws {
        let folder = try folder()
        let store = try await folder.open()
        #expect(try await store.checkIntegrity() == [])
        #expect(try await store.pool.read { try Schema.migrator.hasCompletedMigrations($0) })
        for (table, count) in [
            ("delivery", 7), ("deliveryAttempt", 24), ("refundCase", 9), ("caseRequest", 9), ("notification", 24),
            ("notificationContent", 24), ("quarantine", 1), ("callerKey", 1), ("idempotencyKey", 1), ("event", 50),
        ] {
            let kept = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
            #expect(kept ?? 0 >= count, "\(table)")
        }
        let bounds = try await store.eventBounds()
        #expect(bounds.latestWithoutEpoch == Int64(ReleaseBefore.latestEvent) && bounds.forgotten == 0)
        await store.close()
        let again = try await folder.open()
        #expect(try await again.eventBounds().epoch == bounds.epoch)
    }

    @Test func `a copy of it can be restored`() async throws {
        let folder = try folder()
        let target = try StoreFolder()
        try StoreRestore.restore(from: folder.path, to: target.path, at: ReleaseBefore.now)
        let store = try await target.open()
        #expect(try await store.checkIntegrity() == [])
        #expect(try await store.sendingHold()?.since == ReleaseBefore.now)
        #expect(try await store.eventBounds().latestWithoutEpoch == 0)
    }
}
