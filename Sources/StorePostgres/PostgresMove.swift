package import Domain
package import Postgres
package import StoreSQL

/// Fills an empty database with all that another engine's store holds, or with nothing.
///
/// For a program of its own: it blocks.
package enum PostgresMove {
    /// A table as it stands in both stores.
    package struct Table: Sendable, Equatable {
        package let name: String
        package let digest: TableDigest
    }

    /// Why the database was not filled.
    package struct Failure: Error, Sendable {
        package let error: ServiceError
        /// Whether it may have been all the same: the connection ended when the end was asked for.
        package var mayHaveHappened = false
    }

    /// Copies every table within one transaction, reads all of it again, and compares both.
    ///
    /// - Parameters:
    ///   - configuration: the server and the database; nobody else may use it, and no table of ours may hold anything.
    ///   - source: a snapshot of a store of this version's tables, SQLite's.
    ///   - omitted: a row that stays where it is: its table and its position.
    ///   - digest: SHA-256.
    ///   - progress: told of each table, and of many rows within one: its name, and how many rows are copied.
    /// - Returns: the tables, in the order in which they were copied.
    /// - Throws: ``Failure``
    package static func fill(
        _ configuration: PostgresConfiguration, from source: SQLDatabase,
        omitting omitted: (table: String, position: Int64)? = nil, digest: @escaping TableDigest.Function,
        progress: (_ table: String, _ rows: Int) -> Void
    ) throws(Failure) -> [Table] {
        do {
            let connection = try PostgresConnection(configuration)
            // At once, and not when the server has seen that the connection is gone: a daemon may be started right after this.
            defer { try? connection.run(script: "ROLLBACK; SELECT pg_advisory_unlock_all()") }
            try PostgresServerCheck.check(connection)
            let database = PostgresDatabase.of(connection)
            try database.takeAlone()
            try PostgresSchema.migrate(connection)
            try database.beginTurn()
            try PostgresServerCheck.makeDurable(database)
            // However large it is; the end of the connection undoes it.
            try connection.run(
                script: "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
            try expectNobody(database)
            let tables = try MovedTable.all(source, database)
            try expectEmpty(tables, database)
            let copied = try tables.map { table in
                let digest = try table.copy(source, connection, omitted, digest, progress)
                return Table(name: table.name, digest: digest)
            }
            for (table, copy) in zip(tables, copied) {
                guard try table.read(database, digest) == copy.digest else {
                    throw refusal("What arrived of the table \(table.name) is not what was sent.")
                }
                try table.settle(source, connection, database)
            }
            if let fault = try KeptRules.violations(in: database).first {
                throw refusal("What arrived keeps no order: \(fault)")
            }
            do {
                try database.commit()
            } catch {
                throw Failure(
                    error: serviceError(error, configuration),
                    mayHaveHappened: (error as? PostgresError)?.kind == .connection)
            }
            return copied
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(error: serviceError(error, configuration))
        }
    }

    private static func serviceError(_ error: any Error, _ configuration: PostgresConfiguration) -> ServiceError {
        PostgresFailure.serviceError(error, doing: "move a store", store: "The store \(configuration.description)")
    }

    static func refusal(_ message: String) -> ServiceError { ServiceError(.storeUnavailable, message) }

    /// - Throws: `storeUnavailable` when a copy of the daemon uses the database.
    private static func expectNobody(_ database: PostgresDatabase) throws {
        let isUsed = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM copy WHERE livesUntil > storeTime())")
        guard isUsed != true else { throw refusal("The database is in use: another daemon has it; stop it.") }
    }

    /// - Throws: `storeUnavailable` when there is a row in one of them that did not come with the table.
    private static func expectEmpty(_ tables: [MovedTable], _ database: PostgresDatabase) throws {
        let seeds = Set(PostgresSchema.seeded.map { $0.lowercased() })
        let full = try tables.filter { table in
            guard !seeds.contains(table.name.lowercased()) else { return false }
            return try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM \(table.quoted))") ?? false
        }
        guard full.isEmpty else {
            let names = full.map(\.name).joined(separator: ", ")
            throw refusal(
                "The database is not empty: there are rows in \(names). Make another one with CREATE DATABASE, or drop this one and make it again; nothing is ever put beside what is there."
            )
        }
    }
}
