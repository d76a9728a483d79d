/// A connection that a piece of work was lent, inside of a transaction or a snapshot.
///
/// The work is synchronous: it runs on the connection's own thread, and asks one question after the other. The statements are
/// SQLite's; an engine that speaks otherwise translates them.
package typealias SQLDatabase = any SQLConnection

/// What an engine lends; see ``SQLDatabase``.
package protocol SQLConnection: AnyObject {
    /// A statement that is compiled when it first runs on this connection, and kept.
    func cachedStatement(sql: String) throws -> SQLStatement
    /// A statement that is not worth being kept, such as one for any number of values.
    func makeStatement(sql: String) throws -> SQLStatement
    /// Runs a statement that gives no rows.
    func execute(sql: String, arguments: SQLArguments) throws
    /// How many rows the last statement that changes any has inserted, changed or deleted.
    var changesCount: Int { get }
    /// The number of the row that was inserted last, into this table, whose rows are numbered.
    func lastInsertedRowID(of table: String) throws -> Int64
    /// The highest number that a row of a table ever had, whether it is still there or not; 0 when there was none.
    func lastPosition(of table: String) throws -> Int64
}

extension SQLConnection {
    /// Runs a statement that gives no rows and has no arguments.
    package func execute(sql: String) throws { try execute(sql: sql, arguments: []) }
}

/// A statement of a connection, to be run again and again.
package typealias SQLStatement = any SQLPreparedStatement

/// What an engine makes of a statement; see ``SQLStatement``.
package protocol SQLPreparedStatement: AnyObject {
    /// Runs it for what it changes.
    func execute(arguments: SQLArguments) throws
    /// Runs it for its rows, which come one by one; the next run of the statement ends this one.
    func rows(arguments: SQLArguments) throws -> any SQLRows
    /// Runs it for rows of which there may be very many, or of which only the first are wanted.
    func cursor(arguments: SQLArguments) throws -> any SQLRows
}

extension SQLPreparedStatement {
    /// Runs it for what it changes, without arguments.
    package func execute() throws { try execute(arguments: []) }
}

/// The rows of one run, one after the other.
package protocol SQLRows: AnyObject {
    /// The next row; nil at the end.
    func next() throws -> SQLRow?
}

/// What a store cannot make sense of; the text names columns, and never a value.
package enum SQLError: Error, Sendable, Equatable {
    /// What is kept is not what any version of ours would keep, or a column is missing.
    case damaged(String)
    /// A value is of another type than its column's, or out of bounds.
    case mismatch(String)

    package static func unknown(_ column: String) -> SQLError { .damaged("unknown value in column \(column)") }
}
