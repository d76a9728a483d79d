import Foundation

/// The names of a statement's columns, shared by its rows.
///
/// Engines may give names in another case than the statement's.
package final class SQLColumns {
    package let names: [String]
    private var indexes: [String: Int]

    package init(_ names: [String]) {
        self.names = names
        indexes = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// Whether a column has a name; several may have the same.
    func isName(_ name: String, at index: Int) -> Bool {
        names[index] == name || names[index].caseInsensitiveCompare(name) == .orderedSame
    }

    /// Where a column stands; nil where there is none of this name.
    func index(of name: String) -> Int? {
        if let index = indexes[name] { return index }
        let index = names.firstIndex { $0.caseInsensitiveCompare(name) == .orderedSame }
        indexes[name] = index
        return index
    }
}

/// A row, as it was read.
package struct SQLRow: ColumnValues {
    let columns: SQLColumns
    /// As the engine keeps them, in the order of the statement's columns.
    package let values: [SQLDatum]

    package init(_ columns: SQLColumns, _ values: [SQLDatum]) {
        self.columns = columns
        self.values = values
    }

    package func value<Value: SQLValue>(_ column: String, as type: Value.Type) throws -> Value {
        guard let index = columns.index(of: column) else { throw SQLError.damaged("no column \(column)") }
        return try value(at: index)
    }

    /// The value of a column by its place, from 0.
    package func value<Value: SQLValue>(at index: Int, as type: Value.Type = Value.self) throws -> Value {
        guard let value = Value(datum: values[index]) else {
            throw SQLError.mismatch("column \(columns.names[index]) holds a value of another type")
        }
        return value
    }
}

extension SQLRow {
    /// The texts of all columns that have one.
    var texts: [String] { values.compactMap(String.init(datum:)) }

    package static func fetchAll(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> [SQLRow] {
        let rows = try statement.rows(arguments: arguments)
        var found: [SQLRow] = []
        while let row = try rows.next() { found.append(row) }
        return found
    }

    package static func fetchOne(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> SQLRow? {
        try statement.rows(arguments: arguments).next()
    }

    /// The rows one by one, where there may be very many, or where only the first are wanted.
    package static func fetchCursor(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> any SQLRows {
        try statement.cursor(arguments: arguments)
    }

    /// The rows one by one, of which there are few.
    package static func fetchRows(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> any SQLRows {
        try statement.rows(arguments: arguments)
    }

    package static func fetchAll(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments = []
    ) throws -> [SQLRow] {
        try fetchAll(database.makeStatement(sql: sql), arguments: arguments)
    }

    package static func fetchOne(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments = []
    ) throws -> SQLRow? {
        try fetchOne(database.makeStatement(sql: sql), arguments: arguments)
    }
}

/// Statements whose rows have one column that counts, the first.
extension SQLValue {
    package static func fetchAll(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> [Self] {
        let rows = try statement.rows(arguments: arguments)
        var found: [Self] = []
        while let row = try rows.next() { found.append(try row.value(at: 0)) }
        return found
    }

    /// The first row's value; nil where there is no row, or NULL in it.
    package static func fetchOne(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> Self? {
        guard let row = try statement.rows(arguments: arguments).next() else { return nil }
        return try row.value(at: 0, as: Self?.self)
    }

    package static func fetchAll(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments = []
    ) throws -> [Self] {
        try fetchAll(database.makeStatement(sql: sql), arguments: arguments)
    }

    package static func fetchOne(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments = []
    ) throws -> Self? {
        try fetchOne(database.makeStatement(sql: sql), arguments: arguments)
    }
}

extension SQLValue where Self: Hashable {
    package static func fetchSet(_ statement: SQLStatement, arguments: SQLArguments = []) throws -> Set<Self> {
        Set(try fetchAll(statement, arguments: arguments))
    }

    package static func fetchSet(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments = []
    ) throws -> Set<Self> {
        Set(try fetchAll(database, sql: sql, arguments: arguments))
    }
}
