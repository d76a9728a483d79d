import Domain
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import StorePostgres
@testable import StoreSQL

/// A database of a test's own, gone when the test is.
struct PostgresFixture {
    /// A database with this version's tables, of which every other is a copy.
    private static let template = Task {
        let template = try await PostgresServer.running().makeDatabase()
        let store = try await PostgresStore.open(template)
        // Else each copy would know that it is one, and hold sending.
        try await store.write("forget where it was") { try $0.execute(sql: "DELETE FROM storeOrigin") }
        await store.close()
        return template.database
    }

    /// The suite runs all at once; a server takes so many connections, and each of them is a process.
    private static let places = Places(24)

    let configuration: PostgresConfiguration
    private let opened = Opened()

    /// The stores that a test has opened.
    private final class Opened: Sendable {
        let stores = Mutex<[PostgresStore]>([])
    }

    /// Runs a test with a database.
    static func run(_ body: (PostgresFixture) async throws -> Void) async throws {
        await places.take()
        do {
            try await runWithPlace(body)
        } catch {
            await places.giveBack()
            throw error
        }
        await places.giveBack()
    }

    private static func runWithPlace(_ body: (PostgresFixture) async throws -> Void) async throws {
        let server = try await PostgresServer.running()
        let fixture = PostgresFixture(configuration: try await server.makeDatabase(from: template.value))
        do {
            try await body(fixture)
        } catch {
            await fixture.close()
            throw error
        }
        await fixture.close()
        try await server.run("DROP DATABASE \(fixture.configuration.database) WITH (FORCE)")
    }

    private init(configuration: PostgresConfiguration) {
        var configuration = configuration
        // A busy machine takes longer than the daemon's 5 s to read what a test has written.
        configuration.idleTransactionTimeout = .seconds(60)
        self.configuration = configuration
    }

    /// `secrets`: opens those of the installation; nil for a store without any.
    ///
    /// `sharing`: alone, leases go by the time that a test tells.
    func open(
        _ secrets: UnsealedSecrets? = UnsealedSecrets(), sharing: StoreSharing = .alone, readers: Int = 2
    ) async throws -> PostgresStore {
        let store = try await PostgresStore.open(
            configuration, sharing: sharing, readers: readers, secrets: secrets)
        opened.stores.withLock { $0.append(store) }
        return store
    }

    /// Those that were opened.
    var stores: [PostgresStore] { opened.stores.withLock(\.self) }

    private func close() async {
        for store in stores { await store.close() }
    }
}

/// Lets so many in at a time, in the order in which they come.
private actor Places {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Whoever waits for longest is given the place.
    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

// MARK: Plans

extension PostgresFixture {
    /// What reads or empties a whole table by intent.
    private static let wholeTables: Set = [
        "SELECT * FROM appSetting", "DELETE FROM budgetBlock", "DELETE FROM keyRole", "DELETE FROM keyHistory",
    ]

    /// Which of the statements that a connection has prepared cannot do without a walk through a whole table.
    private static func walks(_ database: SQLDatabase) throws -> [String] {
        let statements = try SQLRow.fetchAll(
            database,
            sql: "SELECT name, statement, cardinality(parameter_types) AS count FROM pg_prepared_statements")
        var found: [String] = []
        for row in statements {
            let (name, statement): (String, String) = (try row.value("name"), try row.value("statement"))
            guard !wholeTables.contains(statement) else { continue }
            let nulls = Array(repeating: "NULL", count: try row.value("count")).joined(separator: ", ")
            let call = nulls.isEmpty ? name : "\(name)(\(nulls))"
            let plan = try String.fetchAll(database, sql: "EXPLAIN EXECUTE \(call)")
            if plan.contains(where: { $0.contains("Seq Scan on") }) { found.append("\(statement): \(plan)") }
        }
        return found
    }

    /// Expects that nothing that was asked on the stores' connections would walk through a whole table, were it large.
    func expectNoWalks(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for store in stores {
            for walks in [
                try await store.read("look", { try Self.walks($0) }),
                try await store.write("look", { try Self.walks($0) }),
            ] {
                #expect(walks == [], sourceLocation: sourceLocation)
            }
        }
    }
}
