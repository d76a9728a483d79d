import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct RestoreTests {
    private let now = CaseModel.time(1)

    /// A folder with a backup in which one notification has this UUID.
    private func backup(_ uuid: String) async throws -> (folder: StoreFolder, file: String) {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.record(.sample(uuid))
        try await store.backup(to: folder.file("backup.db"), at: now)
        await store.close()
        return (folder, folder.file("backup.db"))
    }

    private func uuids(_ folder: StoreFolder) async throws -> [String] {
        let store = try await folder.open()
        let found = try await store.notifications(app: "coins", NotificationQuery())
        await store.close()
        return found.map(\.notification.notification.notificationUUID)
    }

    private func failure(_ backup: String, _ path: String, replacing: Bool = false) throws -> String? {
        do throws(ServiceError) {
            _ = try StoreRestore.restore(from: backup, to: path, replacing: replacing, at: now)
            return nil
        } catch {
            #expect(error.reason == .storeUnavailable)
            return error.message
        }
    }

    @Test func `a store that is there is replaced only when that is wanted, and kept then`() async throws {
        let (folder, file) = try await backup("old")
        let target = try StoreFolder()
        let present = try await target.open()
        _ = try await present.record(.sample("present"))
        await present.close()
        #expect(try failure(file, target.path)?.contains("already") == true)
        #expect(try await uuids(target) == ["present"])
        let kept = try #require(try StoreRestore.restore(from: file, to: target.path, replacing: true, at: now))
        #expect(kept.hasSuffix("purser.db.replaced-20231114T231320Z"))
        #expect(try await uuids(target) == ["old"])
        #expect(try target.permissions(of: "purser.db") == 0o600)
        #expect(try StoreCheck.check(kept) == [])
        #expect(try failure(file, target.path, replacing: true)?.contains("it cannot be kept") == true)
        #expect(try await uuids(target) == ["old"])
        withExtendedLifetime(folder) {}
    }

    @Test func `every copy begins an epoch of its own: no cursor of the store before is taken for one of its`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.record(.sample("1"))
        let first = try await store.eventBounds()
        try await store.backup(to: folder.file("backup.db"), at: now)
        #expect(try await store.eventBounds() == first)
        await store.close()
        let again = try await folder.open()
        #expect(try await again.eventBounds() == first)
        await again.close()
        var epochs: Set = [first.epoch]
        for count in 2...3 {
            try StoreRestore.restore(
                from: folder.file("backup.db"), to: folder.path, replacing: true,
                at: now.addingTimeInterval(Double(count)))
            let restored = try await folder.open()
            let bounds = try await restored.eventBounds()
            #expect(bounds.latest == first.latest && bounds.latestWithoutEpoch == 0)
            epochs.insert(bounds.epoch)
            #expect(epochs.count == count)
            await restored.close()
        }
    }

    @Test func `a store whose daemon was killed is kept with what stood in its log only`() async throws {
        let (folder, file) = try await backup("old")
        let running = try StoreFolder()
        let store = try await running.open()
        _ = try await store.record(.sample("last"))
        let target = try StoreFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: running.path + suffix, toPath: target.path + suffix)
        }
        await store.close()
        let kept = try #require(try StoreRestore.restore(from: file, to: target.path, replacing: true, at: now))
        let old = try DatabaseQueue(path: kept)
        #expect(try await old.read { try String.fetchAll($0, sql: "SELECT uuid FROM notification") } == ["last"])
        try old.close()
        #expect(try await uuids(target) == ["old"])
        withExtendedLifetime(folder) {}
    }

    @Test func `a log that lost its store is not taken for the new one's`() async throws {
        let (folder, file) = try await backup("old")
        let running = try StoreFolder()
        let store = try await running.open()
        _ = try await store.record(.sample("last"))
        let target = try StoreFolder()
        try FileManager.default.copyItem(atPath: running.path + "-wal", toPath: target.path + "-wal")
        await store.close()
        #expect(try failure(file, target.path)?.contains("already") == true)
        let kept = try #require(try StoreRestore.restore(from: file, to: target.path, replacing: true, at: now))
        #expect(FileManager.default.fileExists(atPath: kept + "-wal"))
        #expect(try await uuids(target) == ["old"])
        withExtendedLifetime(folder) {}
    }

    @Test func `a store that is damaged beyond reading can be replaced`() async throws {
        let (folder, file) = try await backup("old")
        let target = try StoreFolder()
        try Data(repeating: 1, count: 9000).write(to: URL(filePath: target.path))
        let kept = try #require(try StoreRestore.restore(from: file, to: target.path, replacing: true, at: now))
        #expect(try Data(contentsOf: URL(filePath: kept)).count == 9000)
        #expect(try await uuids(target) == ["old"])
        withExtendedLifetime(folder) {}
    }

    @Test(.enabled(if: geteuid() == 0)) func `what root restores belongs to the service's user`() async throws {
        let (folder, file) = try await backup("old")
        let target = try StoreFolder()
        #expect(chown(target.url.path, 4242, 4343) == 0)
        try StoreRestore.restore(from: file, to: target.path, at: now)
        for name in ["purser.db", "purser.db.lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: target.file(name))
            #expect(attributes[.ownerAccountID] as? Int == 4242 && attributes[.groupOwnerAccountID] as? Int == 4343)
        }
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: ["symbolic", "hard"])
    func `a link that was planted in place of the lock is not written through`(kind: String) async throws {
        let (folder, file) = try await backup("new")
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: URL(filePath: victim))
        let lock = folder.path + ".lock"
        try? FileManager.default.removeItem(atPath: lock)
        #expect((kind == "hard" ? link(victim, lock) : symlink(victim, lock)) == 0)
        let failure = try #require(try failure(file, folder.path, replacing: true))
        #expect(failure.contains(lock) && failure.contains(kind == "hard" ? "hard link" : "symbolic link"))
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    @Test(.enabled(if: geteuid() == 0)) func `root follows nobody else's link to a store`() async throws {
        let (folder, file) = try await backup("new")
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: URL(filePath: victim))
        try? FileManager.default.removeItem(atPath: folder.path)
        #expect(symlink(victim, folder.path) == 0 && lchown(folder.path, 65_534, 65_534) == 0)
        #expect(try failure(file, folder.path, replacing: true)?.contains("symbolic link") == true)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    @Test func `a store in use is not replaced`() async throws {
        let (folder, file) = try await backup("old")
        let target = try StoreFolder()
        let running = try await target.open()
        #expect(try failure(file, target.path, replacing: true)?.contains("in use") == true)
        #expect(await running.isUsable())
        withExtendedLifetime(folder) {}
    }

    @Test func `what is no whole backup of ours is refused, and leaves nothing behind`() async throws {
        let (folder, file) = try await backup("old")
        let foreign = folder.file("foreign.db")
        let queue = try DatabaseQueue(path: foreign)
        try await queue.write { try $0.execute(sql: "CREATE TABLE theirs (id INTEGER)") }
        try queue.close()
        try Data().write(to: URL(filePath: folder.file("empty.db")))
        try Data("no database".utf8).write(to: URL(filePath: folder.file("text.db")))
        try folder.copy(file, to: "newer.db") { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999')") }
        try folder.copy(file, to: "broken.db") { try $0.execute(sql: "DELETE FROM notificationContent") }
        let target = try StoreFolder()
        for (name, reason) in [
            ("missing.db", "not there"), ("foreign.db", "another program"), ("empty.db", "empty"),
            ("text.db", "not a database"), ("newer.db", "newer version"), ("broken.db", "without its content"),
        ] {
            let message = try failure(folder.file(name), target.path)
            #expect(message?.contains(reason) == true, "\(name): \(message ?? "restored")")
            #expect(try target.names().subtracting(["purser.db.lock"]).isEmpty)
        }
    }

    @Test(arguments: Schema.migrator.migrations)
    func `a backup of any earlier version comes forward, and holds`(version: String) async throws {
        let folder = try StoreFolder()
        let queue = try DatabaseQueue(path: folder.file("backup.db"))
        try await queue.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: version)
        try queue.close()
        try StoreRestore.restore(from: folder.file("backup.db"), to: folder.path, at: now)
        let store = try await folder.open()
        #expect(try await store.sendingHold()?.since == now)
    }
}

extension StoreFolder {
    /// Copies a database and changes the copy.
    func copy(_ path: String, to name: String, _ change: (Database) throws -> Void) throws {
        try FileManager.default.copyItem(atPath: path, toPath: file(name))
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: file(name), configuration: configuration)
        try queue.writeWithoutTransaction(change)
        try queue.close()
    }
}
