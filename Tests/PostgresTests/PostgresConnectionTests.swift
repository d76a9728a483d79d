import TestSupport
import Testing

@testable import Postgres

@Suite(.needsPostgres)
struct PostgresConnectionTests {
    /// Runs work on a connection to a database of its own, on a thread of the pool's.
    private static func withConnection<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let pool = PostgresPool(try await PostgresServer.running().makeDatabase(), size: 1)
        let value = try await pool.withConnection(body)
        await pool.shutdown()
        return value
    }

    @Test func `values go and come as they are`() async throws {
        try await Self.withConnection { connection in
            try connection.run(script: "CREATE TABLE kept (number BIGINT, text TEXT, bytes BYTEA)")
            let bytes = (0...255).map { UInt8($0) }
            let sql = "INSERT INTO kept (number, text, bytes) VALUES ($1, $2, $3)"
            let inserted = try connection.execute(sql, [.integer(.min), .text("Zoë \u{1F4B6} '"), .bytes(bytes)])
            #expect(inserted.affectedRows == 1)
            try connection.execute(sql, [.integer(.max), .text(""), .bytes([])])
            try connection.execute(sql, [.null, .null, .null])
            let rows = try connection.execute("SELECT number, text, bytes, number > 0 FROM kept ORDER BY number")
            #expect(rows.rowCount == 3 && rows.columnNames == ["number", "text", "bytes", "?column?"])
            #expect(try rows.integer(0, 0) == .min && rows.text(0, 1) == "Zoë \u{1F4B6} '")
            #expect(try rows.bytes(0, 2) == bytes && rows.integer(0, 3) == 0)
            #expect(try rows.integer(1, 0) == .max && rows.text(1, 1) == "" && rows.bytes(1, 2) == [])
            #expect(try rows.integer(1, 3) == 1 && rows.integer(2, 0) == nil && rows.text(2, 1) == nil)
            #expect(try rows.bytes(2, 2) == nil && rows.isNull(2, 3))
            #expect(throws: PostgresError.self) { try rows.integer(0, 1) }
            #expect(throws: PostgresError.self) { try rows.bytes(0, 1) }
        }
    }

    @Test func `a statement is prepared once`() async throws {
        try await Self.withConnection { connection in
            for number in Int64(0)..<3 { try connection.execute("SELECT $1::bigint", [.integer(number)]) }
            let prepared = try connection.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE $1",
                [
                    .text("SELECT $1::bigint%")
                ])
            #expect(try prepared.integer(0, 0) == 1)
        }
    }

    @Test func `an error has the server's code and no value`() async throws {
        try await Self.withConnection { connection in
            func failure(_ sql: String, _ values: [PostgresValue] = []) -> PostgresError? {
                #expect(throws: PostgresError.self) { try connection.execute(sql, values) }
            }
            try connection.run(script: "CREATE TABLE one (name TEXT CONSTRAINT only_one PRIMARY KEY)")
            try connection.execute("INSERT INTO one VALUES ($1)", [.text("secret")])
            let twice = failure("INSERT INTO one VALUES ($1)", [.text("secret")])
            #expect(twice?.kind == .constraint && twice?.sqlState == "23505" && twice?.constraint == "only_one")
            let noNumber = failure("SELECT $1::bigint", [.text("secret")])
            #expect(noNumber?.kind == .value && noNumber?.sqlState == "22P02")
            let noTable = failure("SELECT * FROM nowhere")
            #expect(noTable?.kind == .other && noTable?.sqlState == "42P01" && noTable?.operation == "prepare")
            let nul = failure("SELECT $1::text", [.text("secret\0")])
            #expect(nul?.kind == .value && nul?.sqlState == nil)
            for error in [twice, noNumber, noTable, nul] { #expect(error.map { "\($0)".contains("secret") } == false) }
            // The connection goes on.
            #expect(try connection.execute("SELECT 1").integer(0, 0) == 1)
        }
    }

    @Test func `transactions that stand against each other are told from other failures`() async throws {
        let pool = PostgresPool(try await PostgresServer.running().makeDatabase(), size: 1)
        let configuration = try await PostgresServer.running().makeDatabase()
        let error = try await pool.withConnection { _ -> PostgresError? in
            let (one, other) = (try PostgresConnection(configuration), try PostgresConnection(configuration))
            try one.run(script: "CREATE TABLE sum (id INT, n INT); INSERT INTO sum VALUES (1, 1), (2, 2)")
            for connection in [one, other] { try connection.run(script: "BEGIN ISOLATION LEVEL SERIALIZABLE") }
            for (id, connection) in [(1, one), (2, other)] {
                try connection.run(script: "SELECT sum(n) FROM sum; UPDATE sum SET n = n + 1 WHERE id = \(id)")
            }
            try one.run(script: "COMMIT")
            return #expect(throws: PostgresError.self) { try other.run(script: "COMMIT") }
        }
        #expect(error?.kind == .serialization && error?.sqlState == "40001")
        await pool.shutdown()
    }
}
