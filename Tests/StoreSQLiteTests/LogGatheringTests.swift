import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

@Suite(.endsHangs)
struct LogGatheringTests {
    /// A database with a log, as the store has it, and a table with an index.
    private static func open(
        _ folder: StoreFolder, synchronous: String = "FULL", cachePages: Int = 500
    ) throws -> DatabaseQueue {
        try LogGathering.install()
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: folder.path, configuration: configuration)
        try queue.inDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = \(synchronous); PRAGMA cache_size = \(cachePages)")
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, text TEXT) STRICT")
        }
        return queue
    }

    /// One page for each row.
    private static func insert(_ ids: Range<Int>, _ text: Character = "a", in database: Database) throws {
        for id in ids {
            try database.execute(
                sql: "INSERT OR REPLACE INTO item (id, text) VALUES (?, ?)",
                arguments: [id, String(repeating: text, count: 3000)])
        }
    }

    /// How many calls of the system that write this thread has made.
    private static func writeCalls() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst("syscw: ".count)))
    }

    /// What somebody finds who has the files as they are now, as after the process was killed.
    private static func afterDeath(of folder: StoreFolder) throws -> (count: Int, isSound: Bool) {
        let copy = try StoreFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + suffix, toPath: copy.path + suffix)
        }
        return try copy.withForeignConnection { database in
            (
                try Int.fetchOne(database, sql: "SELECT count(*) FROM item") ?? -1,
                try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok"
            )
        }
    }

    @Test func `the pages of a transaction go to the log together`() throws {
        let folder = try StoreFolder()
        let queue = try Self.open(folder)
        let calls = try queue.inDatabase { database in
            // After the first transaction the log goes on where it ended.
            try database.inTransaction {
                try Self.insert(0..<2, in: database)
                return .commit
            }
            let before = try Self.writeCalls()
            try database.inTransaction {
                try Self.insert(10..<22, in: database)
                return .commit
            }
            return try Self.writeCalls() - before
        }
        // At least twelve pages in one piece; each would have been two calls.
        #expect(calls <= 2)
        #expect(try Self.afterDeath(of: folder) == (14, true))
    }

    @Test func `the store's own log gathers`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let name = try await store.pool.writeWithoutTransaction { database in
            var file: UnsafeMutablePointer<sqlite3_vfs>?
            sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_VFS_POINTER, &file)
            return file.map { String(cString: $0.pointee.zName) }
        }
        #expect(name == LogGathering.name)
        await store.close()
    }

    @Test(arguments: ["FULL", "NORMAL", "OFF"])
    func `what is committed is in the file, synced or not, when others see it`(synchronous: String) throws {
        let folder = try StoreFolder()
        let queue = try Self.open(folder, synchronous: synchronous)
        // One page, some, more than gather at once.
        for (round, count) in [1, 5, 70].enumerated() {
            try queue.inDatabase { database in
                try database.inTransaction {
                    try Self.insert(round * 100..<round * 100 + count, in: database)
                    return .commit
                }
            }
            let seen = try folder.withForeignConnection {
                try Int.fetchOne($0, sql: "SELECT sum(length(text)) / 3000 FROM item")
            }
            #expect(seen == [1, 6, 76][round])
            #expect(try Self.afterDeath(of: folder) == ([1, 6, 76][round], true))
        }
    }

    @Test(arguments: ["FULL", "NORMAL"])
    func `pages that leave the cache before the commit are read, written again and taken back`(
        synchronous: String
    ) throws {
        let folder = try StoreFolder()
        // So few pages that a transaction writes most of its own before it ends, and rewrites some.
        let queue = try Self.open(folder, synchronous: synchronous, cachePages: 10)
        try queue.inDatabase { database in
            try database.inTransaction {
                try Self.insert(0..<100, in: database)
                try Self.insert(20..<60, "b", in: database)
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM item WHERE text LIKE 'b%'") == 40)
                return .commit
            }
            try database.inTransaction {
                try Self.insert(100..<200, in: database)
                try Self.insert(0..<50, "c", in: database)
                return .rollback
            }
            try database.inTransaction {
                try Self.insert(200..<205, "d", in: database)
                return .commit
            }
        }
        #expect(try Self.afterDeath(of: folder) == (105, true))
        let letters = try queue.inDatabase { database in
            try String.fetchAll(
                database, sql: "SELECT substr(text, 1, 1) || count(*) FROM item GROUP BY substr(text, 1, 1) ORDER BY 1")
        }
        #expect(letters == ["a60", "b40", "d5"])
    }

    @Test func `a log that begins anew, or is emptied, is written from its start`() throws {
        let folder = try StoreFolder()
        let queue = try Self.open(folder)
        for (round, mode) in [Database.CheckpointMode.passive, .restart, .truncate, .passive].enumerated() {
            try queue.inDatabase { database in
                try database.inTransaction {
                    try Self.insert(round * 30..<round * 30 + 30, in: database)
                    return .commit
                }
            }
            #expect(try Self.afterDeath(of: folder) == (round * 30 + 30, true))
            _ = try queue.writeWithoutTransaction { try $0.checkpoint(mode) }
        }
    }

    @Test func `what cannot be written fails the transaction, and the next is written anew`() throws {
        let file = FailingFile()
        let log = GatheredLog(file.pointer)
        let header = [UInt8](repeating: 0, count: 24)
        let last: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 16)
        let page = [UInt8](repeating: 7, count: 4096)
        #expect(header.withUnsafeBytes { log.write($0, at: 32) } == SQLITE_OK)
        #expect(page.withUnsafeBytes { log.write($0, at: 56) } == SQLITE_OK)
        file.code = SQLITE_FULL
        #expect(last.withUnsafeBytes { log.write($0, at: 4152) } == SQLITE_OK)
        #expect(page.withUnsafeBytes { log.write($0, at: 4176) } == SQLITE_FULL)
        // SQLite has taken the transaction back.
        #expect(log.flush() == SQLITE_OK)
        file.code = SQLITE_OK
        #expect(last.withUnsafeBytes { log.write($0, at: 32) } == SQLITE_OK)
        #expect(page.withUnsafeBytes { log.write($0, at: 56) } == SQLITE_OK)
        #expect(file.ranges == [32..<56, 32..<56, 56..<4152])
    }
}

/// A file that notes what is written, and fails when it is told to.
private final class FailingFile {
    private struct Header {
        var file: sqlite3_file
        var object: Unmanaged<FailingFile>
    }

    /// What each write answers.
    var code = SQLITE_OK
    /// What was written, by its place.
    private(set) var ranges: [Range<Int64>] = []
    private let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)

    var pointer: UnsafeMutablePointer<sqlite3_file> {
        UnsafeMutableRawPointer(header).assumingMemoryBound(to: sqlite3_file.self)
    }

    init() {
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.xWrite = { file, _, count, offset in
            let header = UnsafeMutableRawPointer(file)?.assumingMemoryBound(to: Header.self)
            guard let object = header?.pointee.object.takeUnretainedValue() else { return SQLITE_MISUSE }
            if object.code == SQLITE_OK { object.ranges.append(offset..<offset + Int64(count)) }
            return object.code
        }
        header.initialize(
            to: Header(file: sqlite3_file(pMethods: methods), object: .passUnretained(self)))
    }

    deinit {
        header.deallocate()
        methods.deallocate()
    }
}
