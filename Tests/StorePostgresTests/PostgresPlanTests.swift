import TestSupport
import Testing

@testable import StorePostgres
@testable import StoreSQL

/// How PostgreSQL does what the rules ask, were the tables large.
@Suite(.needsPostgres)
struct PostgresPlanTests {
    /// What reads a whole table by intent: all settings of apps.
    private static let wholeTables: Set = ["SELECT * FROM appSetting"]

    /// The statements that a connection has prepared, and which of them cannot do without a walk through a whole table.
    private static func walks(_ database: SQLDatabase) throws -> (count: Int, found: [String]) {
        let statements = try SQLRow.fetchAll(
            database,
            sql: "SELECT name, statement, cardinality(parameter_types) AS count FROM pg_prepared_statements")
        // Plans that were made before know nothing of the settings.
        try database.makeStatement(sql: "DISCARD PLANS").execute()
        for setting in ["plan_cache_mode = force_generic_plan", "enable_seqscan = off"] {
            try database.makeStatement(sql: "SET LOCAL \(setting)").execute()
        }
        var found: [String] = []
        for row in statements {
            let (name, statement): (String, String) = (try row.value("name"), try row.value("statement"))
            guard !wholeTables.contains(statement) else { continue }
            let nulls = Array(repeating: "NULL", count: try row.value("count")).joined(separator: ", ")
            let call = nulls.isEmpty ? name : "\(name)(\(nulls))"
            let plan = try String.fetchAll(database, sql: "EXPLAIN EXECUTE \(call)")
            if plan.contains(where: { $0.contains("Seq Scan on") }) { found.append("\(statement): \(plan)") }
        }
        return (statements.count, found)
    }

    /// Runs something on a store, and expects that none of what it asks walks through a whole table.
    private static func expectNoWalks(_ work: (PostgresFixture) async throws -> Void) async throws {
        try await PostgresFixture.run { fixture in
            try await work(fixture)
            for store in fixture.stores {
                for walks in [
                    try await store.read("look", { try walks($0) }), try await store.write("look", { try walks($0) }),
                ] {
                    #expect(walks.found == [])
                }
            }
        }
    }

    @Test(arguments: DeliveryStoreContract.cases)
    func `nothing about deliveries walks through a whole table`(contract: DeliveryStoreContract) async throws {
        try await Self.expectNoWalks { fixture in try await contract.run { try await fixture.open(readers: 1) } }
    }

    @Test(arguments: CaseStoreContract.cases)
    func `nothing about cases walks through a whole table`(contract: CaseStoreContract) async throws {
        try await Self.expectNoWalks { fixture in try await contract.run { try await fixture.open(readers: 1) } }
    }

    @Test(arguments: ReceiptStoreContract.cases)
    func `nothing about receipts walks through a whole table`(contract: ReceiptStoreContract) async throws {
        try await Self.expectNoWalks { fixture in try await contract.run { try await fixture.open(readers: 1) } }
    }
}
