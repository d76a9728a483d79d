import Foundation
import GRDB
import GRDBSQLite
import StoreSQL
import Synchronization

/// A connection of SQLite's, as the rules see it.
///
/// What changes anything goes through GRDB, which tells its observers. What only reads does not: GRDB makes the names of a
/// row's columns lower-case before it knows whether there is a row, and copies each value.
final class GRDBConnection: SQLConnection {
    let database: Database
    /// Those that were asked for by ``cachedStatement(sql:)``.
    private var statements: [String: SQLiteStatement] = [:]

    init(_ database: Database) { self.database = database }

    func cachedStatement(sql: String) throws -> SQLStatement {
        if let known = statements[sql] { return known }
        let statement = SQLiteStatement(sql, kept: try database.cachedStatement(sql: sql), on: self)
        statements[sql] = statement
        return statement
    }

    func makeStatement(sql: String) throws -> SQLStatement {
        SQLiteStatement(sql, own: try database.makeStatement(sql: sql), on: self)
    }

    func execute(sql: String, arguments: SQLArguments) throws {
        try database.execute(sql: sql, arguments: StatementArguments(arguments))
    }

    var changesCount: Int { database.changesCount }

    func lastInsertedRowID(of table: String) throws -> Int64 { database.lastInsertedRowID }

    func lastPosition(of table: String) throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = ?"), arguments: [table]) ?? 0
    }
}

/// A statement of SQLite's.
final class SQLiteStatement: SQLPreparedStatement {
    private let sql: String
    private unowned let connection: GRDBConnection
    /// One that nobody else has.
    private let own: Statement?
    /// One that GRDB keeps, and ends with its connection.
    private weak var kept: Statement?
    /// The names of its columns, once there was a row.
    private var columns: SQLColumns?
    /// Which run the statement is at, so that the rows of an earlier one leave it alone.
    private var run = 0

    init(_ sql: String, kept: Statement, on connection: GRDBConnection) {
        self.sql = sql
        self.kept = kept
        own = nil
        self.connection = connection
    }

    init(_ sql: String, own: Statement, on connection: GRDBConnection) {
        self.sql = sql
        self.own = own
        self.connection = connection
    }

    private func statement() throws -> Statement {
        if let statement = own ?? kept { return statement }
        let again = try connection.database.cachedStatement(sql: sql)
        kept = again
        return again
    }

    func execute(arguments: SQLArguments) throws {
        run += 1
        try statement().execute(arguments: StatementArguments(arguments))
    }

    func rows(arguments: SQLArguments) throws -> any SQLRows {
        let statement = try statement()
        guard sqlite3_stmt_readonly(statement.sqliteStatement) != 0 else {
            // What it gives is what it has changed.
            return ChangedRows(try Row.fetchAll(statement, arguments: StatementArguments(arguments)))
        }
        run += 1
        sqlite3_reset(statement.sqliteStatement)
        try bind(arguments, to: statement.sqliteStatement)
        return SQLiteRows(self, statement, run: run)
    }

    func cursor(arguments: SQLArguments) throws -> any SQLRows { try rows(arguments: arguments) }

    // MARK: Arguments

    private func bind(_ arguments: SQLArguments, to statement: OpaquePointer) throws {
        let count = sqlite3_bind_parameter_count(statement)
        guard arguments.named.isEmpty else {
            for index in 1...max(1, count) {
                let name = sqlite3_bind_parameter_name(statement, index).map { String(cString: $0 + 1) }
                try check(bind(name.flatMap { arguments.named[$0] } ?? .null, at: index, to: statement), index == count)
            }
            return
        }
        guard arguments.values.count == Int(count) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "\(arguments.values.count) arguments for \(count)", sql: sql)
        }
        for (index, value) in arguments.values.enumerated() {
            try check(bind(value, at: Int32(index + 1), to: statement), true)
        }
    }

    private func bind(_ value: SQLDatum, at index: Int32, to statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        // Up to the first NUL, as GRDB does.
        case .text(let text): return sqlite3_bind_text(statement, index, text, -1, Self.copied)
        case .bytes(let bytes):
            // No address would be NULL.
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return bytes.withUnsafeBytes { buffer in
                sqlite3_bind_blob(statement, index, buffer.baseAddress, Int32(buffer.count), Self.copied)
            }
        }
    }

    private func check(_ code: Int32, _ isLast: Bool) throws {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// `SQLITE_TRANSIENT`: SQLite copies the value at once.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Rows

    /// The next row of a run; nil at its end.
    fileprivate func step(_ statement: Statement, run: Int) throws -> SQLRow? {
        guard run == self.run else { return nil }
        let pointer = statement.sqliteStatement
        switch sqlite3_step(pointer) {
        case SQLITE_ROW:
            let columns = columns ?? names(pointer)
            return SQLRow(columns, (0..<Int32(columns.names.count)).map { datum(pointer, $0) })
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return nil
        case let code:
            let error = failure(code)
            sqlite3_reset(pointer)
            throw error
        }
    }

    /// Ends a run, unless another one has begun.
    fileprivate func end(_ statement: Statement, run: Int) {
        if run == self.run { sqlite3_reset(statement.sqliteStatement) }
    }

    private func names(_ statement: OpaquePointer) -> SQLColumns {
        let names = (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }
        let columns = SQLColumns(names)
        self.columns = columns
        return columns
    }

    private func datum(_ statement: OpaquePointer, _ column: Int32) -> SQLDatum {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            guard let text = sqlite3_column_text(statement, column) else { return .text("") }
            let count = Int(sqlite3_column_bytes(statement, column))
            return .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_column_blob(statement, column) else { return .bytes([]) }
            return .bytes(
                Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column)))))
        // We keep no fractions.
        default: return .null
        }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        let message = connection.database.sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
}

/// The rows of one run of a statement that only reads.
private final class SQLiteRows: SQLRows {
    private let statement: SQLiteStatement
    private let inner: Statement
    private let run: Int
    private var isOver = false

    init(_ statement: SQLiteStatement, _ inner: Statement, run: Int) {
        self.statement = statement
        self.inner = inner
        self.run = run
    }

    deinit { if !isOver { statement.end(inner, run: run) } }

    func next() throws -> SQLRow? {
        guard !isOver else { return nil }
        do {
            let row = try statement.step(inner, run: run)
            isOver = row == nil
            return row
        } catch {
            isOver = true
            throw error
        }
    }
}

/// The rows that a statement gives which changes something too.
private final class ChangedRows: SQLRows {
    private var rows: ArraySlice<SQLRow>

    init(_ rows: [Row]) {
        let columns = SQLColumns(rows.first.map { Array($0.columnNames) } ?? [])
        self.rows = rows.map { row in SQLRow(columns, row.databaseValues.map(SQLDatum.init)) }[...]
    }

    func next() throws -> SQLRow? { rows.popFirst() }
}

extension SQLDatum {
    fileprivate init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .int64(let number): .integer(number)
            case .string(let text): .text(text)
            case .blob(let data): .bytes(Array(data))
            case .null, .double: .null
            }
    }

    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}

extension StatementArguments {
    fileprivate init(_ arguments: SQLArguments) {
        if arguments.named.isEmpty {
            self.init(arguments.values.map(\.databaseValue))
        } else {
            self.init(arguments.named.mapValues(\.databaseValue))
        }
    }
}

/// The connections of a store, each found by GRDB's.
final class GRDBConnections: Sendable {
    private let known = Mutex(Table())

    /// `@unchecked Sendable`: the mutex guards the table, and a connection is used on its database's own queue only.
    private struct Table: @unchecked Sendable {
        var connections: [ObjectIdentifier: GRDBConnection] = [:]
    }

    /// The connection over a database; it keeps the database, so that none gets another one's place.
    func connection(_ database: Database) -> GRDBConnection {
        let found = known.withLock { table in
            let connection = table.connections[ObjectIdentifier(database)] ?? GRDBConnection(database)
            table.connections[ObjectIdentifier(database)] = connection
            return Found(connection: connection)
        }
        return found.connection
    }

    /// `@unchecked Sendable`: it goes to the queue that has asked, whose thread alone uses it.
    private struct Found: @unchecked Sendable {
        let connection: GRDBConnection
    }
}
