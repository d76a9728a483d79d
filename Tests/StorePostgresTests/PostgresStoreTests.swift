import Domain
import Foundation
import Postgres
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import StorePostgres

/// What PostgreSQL is about, beyond the contracts.
@Suite(.needsPostgres)
struct PostgresStoreTests {
    private static func note(_ text: String, in database: SQLDatabase) throws {
        try database.execute(
            sql: "INSERT INTO installationKey (name, value) VALUES (?, ?)", arguments: [text, Data(text.utf8)])
    }

    private static func notes(_ store: PostgresStore) async throws -> Set<String> {
        try await store.read("look") { try String.fetchSet($0, sql: "SELECT name FROM installationKey") }
    }

    @Test func `it holds the tables of SQLite, column for column`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-columns-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sqlite = try await SQLiteStore.open(at: folder.appending(path: "purser.db").path)
        let expected = try await sqlite.read("look") { database in
            try String.fetchSet(
                database,
                sql: """
                    SELECT lower(m.name || '.' || c.name) FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
                    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'grdb_migrations'
                    """)
        }
        await sqlite.close()
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            let found = try await store.read("look") { database in
                try String.fetchSet(
                    database,
                    sql: """
                        SELECT table_name || '.' || column_name FROM information_schema.columns
                        WHERE table_schema = 'public' AND table_name NOT IN
                            ('migration', 'lastposition', 'copy', 'lease', 'storeorigin', 'writer', 'budgetslice')
                        """)
            }
            #expect(expected.subtracting(found) == [] && found.subtracting(expected) == [])
            #expect(found.count > 300)
        }
    }

    @Test func `a write that fails undoes itself alone`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            let failures = await withTaskGroup(of: Int.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        do {
                            try await store.write("test") { database in
                                try Self.note("note \(number)", in: database)
                                if number.isMultiple(of: 4) { try Self.note("note \(number)", in: database) }
                            }
                            return 0
                        } catch {
                            return 1
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(failures == 10)
            let expected = (0..<40).filter { !$0.isMultiple(of: 4) }.map { "note \($0)" }
            #expect(try await Self.notes(store).isSuperset(of: expected))
            #expect(try await Self.notes(store).isDisjoint(with: ["note 0", "note 4"]))
        }
    }

    @Test func `two copies write one after the other, and positions have no gap`() async throws {
        try await PostgresFixture.run { fixture in
            let stores = [try await fixture.open(), try await fixture.open()]
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    let store = stores[number % 2]
                    group.addTask {
                        let stored = StoredNotification.sample("n\(number)", transaction: .sample(id: "\(number)"))
                        _ = try await store.record(stored)
                    }
                }
                try await group.waitForAll()
            }
            let events = try await stores[0].events(after: 0, limit: 1000)
            #expect(events.map(\.position) == Array(1...100))
            #expect(try await stores[1].eventBounds().latest == 100)
        }
    }

    @Test func `what one copy commits wakes who waits in another`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(), try await fixture.open())
            let signals = there.changes.signals()
            _ = try await here.record(.sample("a", transaction: .sample(id: "1")))
            try await Wait.bounding("the other copy to be told") {
                for await _ in signals where try await !there.events(after: 0, limit: 1).isEmpty { return }
            }
        }
    }

    @Test func `after the server has ended all connections everything goes on`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            for number in 0..<5 {
                try await PostgresServer.running().endConnections(to: fixture.configuration)
                try await store.write("test") { try Self.note("after \(number)", in: $0) }
                #expect(try await Self.notes(store).contains("after \(number)"))
            }
            #expect(store.problem == nil)
        }
    }

    @Test func `a write whose connection ends before its commit is done again, once`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            let runs = Mutex(0)
            try await store.write("test") { database in
                try Self.note("once", in: database)
                if runs.withLock({
                    $0 += 1
                    return $0
                }) == 1 {
                    try database.execute(sql: "SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(runs.withLock(\.self) == 2)
            #expect(try await Self.notes(store).contains("once"))
        }
    }

    @Test func `without a server the store says so, and what is waiting is told`() async throws {
        let nowhere = PostgresConfiguration(host: "/nonexistent", database: "purser", user: "purser")
        let error = await #expect(throws: ServiceError.self) { try await PostgresStore.open(nowhere) }
        #expect(error?.reason == .storeUnavailable)
        #expect(error?.message.contains("/nonexistent:5432/purser") == true)
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            await store.close()
            #expect(await !store.isUsable())
        }
    }

    @Test func `tables of a newer version are left alone`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            try await store.write("test") { try $0.execute(sql: "INSERT INTO migration (name) VALUES ('9999 later')") }
            let error = await #expect(throws: ServiceError.self) { try await fixture.open() }
            #expect(error?.message.contains("9999 later") == true)
        }
    }

    @Test func `a watchdog hears that it runs`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            await store.heartbeat()
            #expect(await store.isUsable() && store.waitingWrites == 0)
            #expect(try await store.checkIntegrity() == [])
        }
    }
}
