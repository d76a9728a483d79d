import Foundation
import TestSupport
import Testing

@testable import Postgres

@Suite(.needsPostgres)
struct PostgresPoolTests {
    private static func pool(size: Int = 2, maximumWaiting: Int = 100) async throws -> (
        PostgresPool, PostgresConfiguration
    ) {
        let configuration = try await PostgresServer.running().makeDatabase()
        return (PostgresPool(configuration, size: size, maximumWaiting: maximumWaiting), configuration)
    }

    private static func failure(of pool: PostgresPool) async -> PostgresError? {
        do {
            try await pool.withConnection { _ in }
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    @Test func `there are no more connections than its size`() async throws {
        let (pool, configuration) = try await Self.pool()
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await pool.withConnection { _ = try $0.execute("SELECT 1") } } }
            try await group.waitForAll()
        }
        let count = try await pool.withConnection { connection in
            try connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", [.text(configuration.database)]
            ).integer(0, 0)
        }
        #expect(count.map { 1...2 ~= $0 } == true)
        await pool.shutdown()
    }

    @Test func `what is too much is refused at once`() async throws {
        let (pool, _) = try await Self.pool(size: 1, maximumWaiting: 2)
        let (gate, entered) = (DispatchSemaphore(value: 0), OneTime<Bool>())
        pool.submit { _ in
            entered.give(true)
            gate.wait()
        }
        _ = try await entered.value("the thread to be busy")
        for _ in 0..<2 { pool.submit { _ in } }
        #expect(pool.waitingCount == 2)
        #expect(await Self.failure(of: pool)?.kind == .tooManyWaiting)
        gate.signal()
        await pool.shutdown()
    }

    @Test func `a connection that ended while nobody used it is made anew`() async throws {
        let (pool, configuration) = try await Self.pool(size: 1)
        try await pool.withConnection { try $0.run(script: "CREATE TABLE kept (n INT)") }
        try await PostgresServer.running().endConnections(to: configuration)
        #expect(try await pool.withConnection { try $0.execute("SELECT * FROM kept").rowCount } == 0)
        await pool.shutdown()
    }

    @Test func `work whose connection ends under it fails, once, and the next goes on`() async throws {
        let (pool, _) = try await Self.pool(size: 1)
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { _ = try $0.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
        }
        #expect(error?.kind == .connection)
        #expect(try await pool.withConnection { try $0.execute("SELECT 1").rowCount } == 1)
        await pool.shutdown()
    }

    @Test func `what work leaves open is undone`() async throws {
        let (pool, _) = try await Self.pool(size: 1)
        try await pool.withConnection { try $0.run(script: "CREATE TABLE kept (n INT)") }
        try await pool.withConnection { try $0.run(script: "BEGIN; INSERT INTO kept VALUES (1)") }
        #expect(try await pool.withConnection { try $0.execute("SELECT * FROM kept").rowCount } == 0)
        await pool.shutdown()
    }

    @Test func `without a server work fails, and at the end nothing is taken`() async throws {
        let nowhere = PostgresConfiguration(host: "/nonexistent", database: "a", user: "b")
        let pool = PostgresPool(nowhere, size: 1)
        for _ in 0..<3 { #expect(await Self.failure(of: pool)?.kind == .connection) }
        await pool.shutdown()
        #expect(await Self.failure(of: pool)?.kind == .shutDown)
    }
}
