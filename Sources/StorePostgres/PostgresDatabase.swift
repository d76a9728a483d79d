import Domain
import Postgres
import StoreSQL

/// A connection of PostgreSQL's, as the rules see it, within a transaction.
final class PostgresDatabase: SQLConnection {
    /// How many rows of a cursor are fetched at a time.
    fileprivate static let cursorSize = 256

    /// It is kept with the connection, and ends with it.
    fileprivate unowned let connection: PostgresConnection
    /// Those that were asked for by ``cachedStatement(sql:)``.
    private var statements: [String: PostgresStatement] = [:]
    private var nextCursor = 0
    /// Whether this connection has the store, alone or together with others.
    private var isTaken = false
    /// Whether a turn of this connection has looked where the database is, and was committed.
    var isOriginKnown = false
    fileprivate(set) var changesCount = 0

    private init(_ connection: PostgresConnection) { self.connection = connection }

    /// The one over a connection.
    static func of(_ connection: PostgresConnection) -> PostgresDatabase {
        if let known = connection.attachment as? PostgresDatabase { return known }
        let new = PostgresDatabase(connection)
        connection.attachment = new
        return new
    }

    func cachedStatement(sql: String) -> SQLStatement {
        if let known = statements[sql] { return known }
        let statement = PostgresStatement(PostgresText(sql), isKept: true, on: self)
        statements[sql] = statement
        return statement
    }

    func makeStatement(sql: String) -> SQLStatement { PostgresStatement(PostgresText(sql), isKept: false, on: self) }

    func execute(sql: String, arguments: SQLArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Positions are taken back with their transaction, and one transaction has one turn.
    func lastInsertedRowID(of table: String) throws -> Int64 { try lastPosition(of: table) }

    func lastPosition(of table: String) throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT position FROM lastPosition WHERE ofTable = ?"), arguments: [table]) ?? 0
    }

    /// Keeps every daemon from writing for as long as the connection lasts.
    ///
    /// - Throws: `storeUnavailable` when one has the store; `PostgresError`.
    func takeAlone() throws {
        guard !isTaken else { return }
        try take("pg_try_advisory_lock", refusal: "another daemon has it")
    }

    /// Keeps anybody from having the store alone for as long as the connection lasts; daemons do so together.
    ///
    /// - Throws: `storeUnavailable` while somebody has it alone; `PostgresError`.
    func takeTogether() throws {
        guard !isTaken else { return }
        try take("pg_try_advisory_lock_shared", refusal: "it is being filled by `purser store move`")
    }

    private func take(_ lock: String, refusal: String) throws {
        let answer = try connection.execute("SELECT \(lock)(1349874291, 3)")
        guard try answer.integer(0, 0) == 1 else {
            throw ServiceError(.storeUnavailable, "The store cannot be used now: \(refusal).")
        }
        isTaken = true
    }

    fileprivate func cursorName() -> String {
        nextCursor += 1
        return "c\(nextCursor)"
    }
}

// MARK: Transactions

extension PostgresDatabase {
    /// Runs reads that see one state of the database.
    func snapshot<Value>(_ work: (PostgresDatabase) throws -> Value) throws -> Value {
        try connection.run(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        do {
            let value = try work(self)
            try connection.run(script: "COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Begins a write's transaction, once all that began before have ended.
    ///
    /// Each of its statements sees what was committed before, and nobody else commits until it ends (0050).
    func beginTurn() throws { try connection.run(script: "BEGIN; SELECT pg_advisory_xact_lock(1349874291, 2)") }

    /// `last`: a statement that goes before, with no round trip of its own.
    func commit(last: String = "SELECT") throws { try connection.run(script: "\(last); COMMIT") }

    /// Takes everything back; a connection that has ended has done so.
    func rollBack() {
        if connection.isUsable, connection.isInsideTransaction { try? connection.run(script: "ROLLBACK") }
    }

    /// Runs work that is undone by itself when it fails.
    func savepoint(_ work: () throws -> Void) throws {
        try connection.run(script: "SAVEPOINT work")
        do {
            try work()
        } catch {
            if connection.isUsable {
                try connection.run(script: "ROLLBACK TO SAVEPOINT work; RELEASE SAVEPOINT work")
            }
            throw error
        }
        try connection.run(script: "RELEASE SAVEPOINT work")
    }

    var isUsable: Bool { connection.isUsable }
}

// MARK: Statements

/// A statement of PostgreSQL's.
private final class PostgresStatement: SQLPreparedStatement {
    private let text: PostgresText
    private let isKept: Bool
    private unowned let database: PostgresDatabase
    /// The names of its columns, once it gave rows.
    private var columns: SQLColumns?

    init(_ text: PostgresText, isKept: Bool, on database: PostgresDatabase) {
        self.text = text
        self.isKept = isKept
        self.database = database
    }

    func execute(arguments: SQLArguments) throws { database.changesCount = try run(arguments).affectedRows }

    func rows(arguments: SQLArguments) throws -> any SQLRows {
        let result = try run(arguments)
        return PostgresRows(result, columns(of: result))
    }

    func cursor(arguments: SQLArguments) throws -> any SQLRows {
        let (name, connection) = (database.cursorName(), database.connection)
        try connection.executeOnce("DECLARE \(name) NO SCROLL CURSOR FOR \(text.text)", values(arguments))
        return PostgresCursor { [self] in
            let result = try connection.executeOnce("FETCH FORWARD \(PostgresDatabase.cursorSize) FROM \(name)")
            return PostgresRows(result, columns(of: result))
        }
    }

    private func run(_ arguments: SQLArguments) throws -> PostgresResult {
        let values = values(arguments)
        return isKept
            ? try database.connection.execute(text.text, values)
            : try database.connection.executeOnce(text.text, values)
    }

    private func columns(of result: PostgresResult) -> SQLColumns {
        if let columns { return columns }
        let new = SQLColumns(result.columnNames)
        columns = new
        return new
    }

    private func values(_ arguments: SQLArguments) -> [PostgresValue] {
        text.values(arguments).map { value in
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            // Up to the first NUL, as SQLite's are kept.
            case .text(let text):
                .text(text.utf8.contains(0) ? String(text.unicodeScalars.prefix { $0.value != 0 }) : text)
            case .bytes(let bytes): .bytes(bytes)
            }
        }
    }
}

/// The rows of a result that is here.
private final class PostgresRows: SQLRows {
    private let result: PostgresResult
    private let columns: SQLColumns
    private var place = 0

    init(_ result: PostgresResult, _ columns: SQLColumns) {
        self.result = result
        self.columns = columns
    }

    var count: Int { result.rowCount }

    func next() throws -> SQLRow? {
        guard place < result.rowCount else { return nil }
        defer { place += 1 }
        return SQLRow(columns, try (0..<columns.names.count).map { SQLDatum(try result.value(place, $0)) })
    }
}

/// Rows that are fetched as they are wanted; the transaction's end closes the cursor.
private final class PostgresCursor: SQLRows {
    private let fetch: () throws -> PostgresRows
    private var rows: PostgresRows?

    init(_ fetch: @escaping () throws -> PostgresRows) { self.fetch = fetch }

    func next() throws -> SQLRow? {
        if let row = try rows?.next() { return row }
        if let rows, rows.count < PostgresDatabase.cursorSize { return nil }
        let more = try fetch()
        rows = more
        return try more.next()
    }
}

extension SQLDatum {
    fileprivate init(_ value: PostgresValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .text(let text): .text(text)
            case .bytes(let bytes): .bytes(bytes)
            }
    }
}
