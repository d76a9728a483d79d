import Dispatch
import Domain
import Foundation
import GRDB
import Logging
import Synchronization
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

@Suite(.endsHangs)
struct GroupCommitTests {
    private struct Refusal: Error {}

    /// Holds the writer, so that what comes meanwhile gathers.
    private func holdingWriter(of store: SQLiteStore, until isGathered: Int, _ work: () -> Void) async throws {
        let gate = DispatchSemaphore(value: 0)
        store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
        defer { gate.signal() }
        work()
        try await Wait.until("\(isGathered) writes to gather") { store.commits.pendingCount >= isGathered }
    }

    /// Runs writes that come at the same time.
    ///
    /// - Returns: what each threw.
    private func together(
        _ count: Int, on store: SQLiteStore, _ body: @escaping @Sendable (Int, Database) throws -> Void
    ) async throws -> [Int: ServiceError] {
        try await withThrowingTaskGroup(of: (Int, ServiceError?).self) { group in
            try await holdingWriter(of: store, until: count) {
                for number in 0..<count {
                    group.addTask {
                        do throws(ServiceError) {
                            try await store.write("test") { try body(number, $0.sqlite()) }
                            return (number, nil)
                        } catch {
                            return (number, error)
                        }
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func insertKey(_ number: Int, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO installationKey (name, value) VALUES (?, x'01')", arguments: ["\(number)"])
    }

    private func keyCount(_ store: SQLiteStore) async throws -> Int {
        try await store.read("count") { try Int.fetchOne($0, sql: "SELECT count(*) FROM installationKey") ?? -1 }
    }

    @Test func `a write that comes while the store closes fails`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        // The connection goes before the lock of the file.
        try store.pool.close()
        await #expect(throws: ServiceError(.storeUnavailable, "")) {
            try await store.write("test") { try insertKey(1, $0.sqlite()) }
        }
        await store.close()
    }

    @Test func `writes that come at the same time share commits, up to a bound`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let before = store.commits.commitCount
        let failures = try await together(GroupCommit.maximumSize + 10, on: store) { try insertKey($0, $1) }
        #expect(failures.isEmpty)
        #expect(store.commits.commitCount - before == 2)
        #expect(try await keyCount(store) == GroupCommit.maximumSize + 10)
    }

    @Test func `what is committed beside a large write that was taken back is there after the process dies`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let failures = try await together(9, on: store) { number, database in
            try insertKey(number, database)
            guard number == 4 else { return }
            // More pages than SQLite's cache has; most of them change twice, the first ones not.
            for round in 0..<2 {
                for id in (round == 0 ? 1000 : 1200)..<2400 {
                    try database.execute(
                        sql: "INSERT OR REPLACE INTO installationKey (name, value) VALUES (?, ?)",
                        arguments: ["\(id)", Data(repeating: UInt8(round), count: 3000)])
                }
            }
            throw Refusal()
        }
        #expect(failures.count == 1)
        let later = try await together(1, on: store) { try insertKey(100 + $0, $1) }
        #expect(later.isEmpty)
        let copy = try StoreFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + suffix, toPath: copy.path + suffix)
        }
        let found = try copy.withForeignConnection { try Int.fetchOne($0, sql: "SELECT count(*) FROM installationKey") }
        #expect(try await keyCount(store) == 9)
        #expect(found == 9)
    }

    @Test func `a write that fails harms none of its neighbours, and changes nothing itself`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let before = store.commits.commitCount
        let failures = try await together(30, on: store) { number, database in
            try insertKey(number, database)
            if number % 3 == 0 { throw Refusal() }
            if number % 3 == 1 { try insertKey(number, database) }
        }
        #expect(Set(failures.keys) == Set((0..<30).filter { $0 % 3 < 2 }))
        #expect(store.commits.commitCount - before == 1)
        #expect(try await keyCount(store) == 10)
    }

    @Test func `a group that the disk refuses is told of as one write is, and a write that is undone ends nothing`()
        async throws
    {
        let (folder, log) = (try StoreFolder(), RecordedLog())
        let store = try await SQLiteStore.open(at: folder.path, logger: log.logger)
        func setReadOnly(_ isReadOnly: Bool) async throws {
            try await store.pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA query_only = \(isReadOnly)")
            }
        }
        try await setReadOnly(true)
        for _ in 0..<2 {
            #expect(try await together(3, on: store, insertKey).count == 3)
            #expect(log.lines.map(\.level) == [.error])
        }
        try await setReadOnly(false)
        let undone = try await together(3, on: store) { number, database in
            if number == 0 { throw Refusal() }
            // As one that is refused after the statements that went well.
            try insertKey(number, database)
            throw DatabaseError(resultCode: .SQLITE_FULL)
        }
        #expect(undone.count == 3 && log.lines.map(\.level) == [.error])
        #expect(try await together(3, on: store, insertKey).isEmpty)
        #expect(log.lines.map(\.level) == [.error, .notice])
    }

    /// What one write of a group does.
    private enum Step {
        case insert(Int)
        case remove(Int)
        /// Goes through whatever is there, so that it depends on the writes before.
        case extend
        case fail
    }

    /// Steps over few names, so that writes of one group meet.
    private static func steps(_ random: inout SeededRandom) -> [Step] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let name = Int.random(in: 0..<12, using: &random)
            return switch Int.random(in: 0..<8, using: &random) {
            case 0...3: .insert(name)
            case 4: .remove(name)
            case 5, 6: .extend
            default: .fail
            }
        }
    }

    private static func carryOut(_ steps: [Step], _ database: Database) throws {
        for step in steps {
            switch step {
            // Two of one name violate the table's key.
            case .insert(let name):
                try database.execute(
                    sql: "INSERT INTO installationKey (name, value) VALUES (?, x'01')", arguments: ["\(name)"])
            case .remove(let name):
                try database.execute(sql: "DELETE FROM installationKey WHERE name = ?", arguments: ["\(name)"])
            case .extend: try database.execute(sql: "UPDATE installationKey SET value = CAST(value || 'x' AS BLOB)")
            case .fail: throw Refusal()
            }
        }
    }

    /// What is there after each write has had a transaction of its own, and which of them failed.
    private func alone(_ writes: [[Step]], _ order: [Int]) throws -> (rows: [String], failed: Set<Int>) {
        let queue = try DatabaseQueue()
        try queue.write { database in
            try database.execute(
                sql: "CREATE TABLE installationKey (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID")
        }
        var failed: Set<Int> = []
        for number in order {
            do {
                try queue.write { try Self.carryOut(writes[number], $0) }
            } catch {
                failed.insert(number)
            }
        }
        return (try queue.read(rows), failed)
    }

    private func rows(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT name || ' ' || hex(value) FROM installationKey ORDER BY name")
    }

    @Test(arguments: 1...20)
    func `a group leads to what its writes lead to alone, whichever of them fail and wherever`(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let writes = (0..<Int.random(in: 1...30, using: &random)).map { _ in Self.steps(&random) }
        let folder = try StoreFolder()
        let store = try await folder.open()
        let before = store.commits.commitCount
        // A write that failed may have run before; the last time is the one that counts.
        let order = Mutex<[Int]>([])
        let failures = try await together(writes.count, on: store) { number, database in
            order.withLock { order in
                order.removeAll { $0 == number }
                order.append(number)
            }
            try Self.carryOut(writes[number], database)
        }
        let expected = try alone(writes, order.withLock(\.self))
        #expect(Set(failures.keys) == expected.failed)
        #expect(try await store.read("look") { try rows($0.sqlite()) } == expected.rows)
        #expect(store.commits.commitCount - before <= 1)
        await store.close()
    }

    @Test func `writes of which none fails need no savepoints, and are run once`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let savepoints = Atomic(0)
        let runs = Atomic(0)
        try await store.pool.writeWithoutTransaction { database in
            database.trace { if "\($0)".hasPrefix("SAVEPOINT") { savepoints.add(1, ordering: .relaxed) } }
        }
        func insert(failing: Set<Int>) async throws -> [Int: ServiceError] {
            runs.store(0, ordering: .relaxed)
            return try await together(20, on: store) { number, database in
                runs.add(1, ordering: .relaxed)
                if failing.contains(number) { throw Refusal() }
                try database.execute(
                    sql: "INSERT INTO installationKey (name, value) VALUES (lower(hex(randomblob(8))), x'01')")
            }
        }
        #expect(try await insert(failing: []).isEmpty)
        #expect(savepoints.load(ordering: .relaxed) == 0)
        #expect(runs.load(ordering: .relaxed) == 20)
        #expect(try await insert(failing: [7]).keys.sorted() == [7])
        #expect(savepoints.load(ordering: .relaxed) == 20)
        #expect(try await keyCount(store) == 39)
        try await store.pool.writeWithoutTransaction { $0.trace(options: []) }
    }

    @Test func `when the whole transaction fails, all of it fails, nothing is half done, and the next goes well`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let failures = try await together(20, on: store) { number, database in
            try insertKey(number, database)
            // As SQLite does by itself on an I/O error.
            if number == 10 { try database.execute(sql: "ROLLBACK") }
        }
        #expect(failures.count == 20)
        #expect(failures.values.allSatisfy { $0.reason == .storeUnavailable })
        #expect(try await keyCount(store) == 0)
        #expect(try await together(20, on: store) { try insertKey($0, $1) }.isEmpty)
        #expect(try await keyCount(store) == 20)
    }

    /// Whether there is a ring that was not heard; does not wait for one.
    private func hasRung(_ rings: AsyncStream<Void>) async -> Bool {
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in rings { return true }
            return false
        }.value
    }

    @Test func `the changes rings after a commit that kept events, and after no other`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let draft = try DeliveryDraft.sample("1")
        let before = store.changes.signals()
        #expect(await store.isUsable())
        await #expect(throws: ServiceError.self) {
            try await store.write("test") { database in
                try DeliveryRow.insert(draft.delivery, into: database)
                throw Refusal()
            }
        }
        #expect(await hasRung(before) == false)
        let after = store.changes.signals()
        try await store.queue(draft)
        #expect(await hasRung(after))
    }
}
