import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct OpeningTests {
    @Test func `commits are synced in full, the log is written ahead, foreign keys hold, savepoints stay in memory`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let pragmas = try await store.pool.writeWithoutTransaction { database in
            try ["synchronous", "journal_mode", "foreign_keys", "busy_timeout", "wal_autocheckpoint", "temp_store"].map
            {
                try String.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(pragmas == ["2", "wal", "1", "5000", "8192", "2"])
    }

    @Test func `a store that was closed is one file, with its lock beside it`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let link = try Link.sample(.transactionId, "1", user: "alice")
        _ = try await store.declare(link, transfer: false)
        // Several readers at once, each with a connection that stays open.
        await withTaskGroup { readers in
            for _ in 0..<8 { readers.addTask { _ = try? await store.links(app: "coins", user: link.user) } }
        }
        await store.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.sorted() == ["purser.db", "purser.db.lock"])
    }

    @Test func `a start writes the settings of those apps alone that have others than before`() async throws {
        let folder = try StoreFolder()
        let coins = App(slug: "coins", bundleID: "com.example.coins", ignoredTokens: ["a", "b"])
        let gems = App(slug: "gems", bundleID: "com.example.gems")
        await (try await SQLiteStore.open(at: folder.path, apps: [coins, gems])).close()
        try folder.withForeignConnection { database in
            try database.execute(
                sql: """
                    CREATE TABLE written (app TEXT);
                    CREATE TRIGGER inserted AFTER INSERT ON appSetting BEGIN INSERT INTO written VALUES (NEW.app); END;
                    CREATE TRIGGER updated AFTER UPDATE ON appSetting BEGIN INSERT INTO written VALUES (NEW.app); END;
                    """)
        }
        let adult = App(slug: "gems", bundleID: "com.example.gems", guardianBlocksConsumption: false)
        let new = App(slug: "stars", bundleID: "com.example.stars")
        let store = try await SQLiteStore.open(at: folder.path, apps: [coins, adult, new])
        let (written, kept) = try await store.pool.read { database in
            (
                try String.fetchAll(database, sql: "SELECT app FROM written ORDER BY app"),
                try ["coins", "gems", "stars"].map { try AppSettingRow.fetch($0, from: GRDBConnection(database)) }
            )
        }
        #expect(written == ["gems", "stars"])
        #expect(kept.map { $0?.guardianBlocksConsumption } == [true, false, true])
        #expect(kept.first??.ignoredTokens == coins.ignoredTokens)
        #expect(try await !store.refreshOwners(limit: 1), "nothing changed that tells owners")
    }

    @Test func `the file and its companions are ours alone`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
        for name in ["purser.db", "purser.db-wal", "purser.db-shm", "purser.db.lock"] {
            #expect(try folder.permissions(of: name) == 0o600, "\(name)")
        }
    }

    @Test func `a file that others may read is closed to them`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open()).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path)
        let store = try await folder.open()
        #expect(try folder.permissions(of: "purser.db") == 0o600)
        #expect(await store.isUsable())
    }

    @Test func `a second daemon on the same file is refused by name, until the first has closed it`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        let refusal = try await folder.failureOfOpening()
        #expect(refusal?.reason == .storeUnavailable)
        #expect(refusal?.message.contains(folder.path) == true)
        #expect(refusal?.message.contains("process \(getpid())") == true)
        _ = try await first.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
        await first.close()
        let second = try await folder.open()
        #expect(try await second.links(app: "coins", user: try UserID("alice")).count == 1)
    }

    @Test func `a second name of the same file does not get past the lock`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        let other = try StoreFolder()
        try FileManager.default.createSymbolicLink(atPath: other.path, withDestinationPath: folder.path)
        #expect(try await other.failureOfOpening()?.message.contains("in use by another Purser") == true)
        await first.close()
        #expect(try await other.failureOfOpening() == nil)
    }

    @Test func `a store that nobody holds any longer is free again`() async throws {
        let folder = try StoreFolder()
        _ = try await folder.open()
        #expect(try await folder.failureOfOpening() == nil)
    }

    @Test func `other programs can read beside us`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
        let count = try folder.withForeignConnection { try Int.fetchOne($0, sql: "SELECT count(*) FROM link") }
        #expect(count == 1)
        #expect(await store.isUsable())
    }

    @Test func `a missing folder is named`() async throws {
        let folder = try StoreFolder()
        let missing = folder.url.appending(path: "none/purser.db").path
        await #expect {
            _ = try await SQLiteStore.open(at: missing)
        } throws: { error in
            let message = (error as? ServiceError)?.message ?? ""
            return message.contains(missing) && message.contains("folder") && message.contains("No such file")
        }
    }

    @Test func `a folder in the file's place is refused`() async throws {
        let folder = try StoreFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        #expect(try await folder.failureOfOpening()?.message.contains("Is a directory") == true)
    }

    @Test func `a file that is no database is refused by name and left as it is`() async throws {
        let folder = try StoreFolder()
        let text = Data("this is not a database, but long enough to be looked at as one".utf8)
        try text.write(to: URL(filePath: folder.path))
        let refusal = try await folder.failureOfOpening()
        #expect(refusal?.message.contains(folder.path) == true)
        #expect(refusal?.message.contains("not a database") == true)
        #expect(try Data(contentsOf: URL(filePath: folder.path)) == text)
    }

    @Test func `a database of another program is refused by name and left as it is`() async throws {
        let folder = try StoreFolder()
        try folder.withForeignConnection { try $0.execute(sql: "CREATE TABLE recipe (id INTEGER PRIMARY KEY)") }
        #expect(try await folder.failureOfOpening()?.message.contains("another program") == true)
        let (tables, journalMode) = try folder.withForeignConnection { database in
            (
                try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema"),
                try String.fetchOne(database, sql: "PRAGMA journal_mode")
            )
        }
        #expect(tables == ["recipe"])
        #expect(journalMode == "delete")
    }

    @Test func `a closed store answers that it is unavailable`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        await store.close()
        await store.close()
        let unavailable = ServiceError(.storeUnavailable, "")
        let link = try Link.sample(.transactionId, "1", user: "alice")
        await #expect(throws: unavailable) { try await store.links(app: "coins", user: link.user) }
        await #expect(throws: unavailable) { try await store.declare(link, transfer: false) }
        #expect(await store.isUsable() == false)
        await store.heartbeat()
    }
}
