import Domain
import Foundation
import GRDB

// How values stand in columns and in conditions, for the rows of every table.

extension Row: ColumnValues {
    /// The rows of a statement that mostly gives none, and has no NULL in its first column.
    ///
    /// As `fetchAll`, which makes the names of all columns lower-case before it knows whether there is any row: of a wide
    /// table that costs more than the look-up, so that a statement that does give rows may as well run twice.
    static func fetchIfAny(_ statement: Statement, arguments: StatementArguments) throws -> [Row] {
        guard try DatabaseValue.fetchOne(statement, arguments: arguments) != nil else { return [] }
        return try fetchAll(statement, arguments: arguments)
    }

    /// As `decode(forColumn:)`, which for each look-up makes the names of all columns lower-case.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: String, as type: Value.Type
    ) throws -> Value {
        guard let index = columnNames.firstIndex(of: column) else {
            throw DatabaseError(message: "no column \(column)")
        }
        return try decode(Value.self, atIndex: columnNames.distance(from: columnNames.startIndex, to: index))
    }
}

/// A row whose columns are read one after the other, in the order in which they were asked for.
///
/// For the wide tables of the hot paths, where finding a column by its name is a third of reading the row.
final class OrderedRow: ColumnValues {
    private let row: Row
    private var next = 0

    init(_ row: Row) { self.row = row }

    /// The value of the next column, which must have this name.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: String, as type: Value.Type
    ) throws -> Value {
        assert(name(at: next) == column, "\(column) is not the next column")
        defer { next += 1 }
        return try row.decode(Value.self, atIndex: next)
    }

    /// Leaves columns out.
    func skip(_ count: Int) { next += count }

    private func name(at index: Int) -> String {
        let names = row.columnNames
        return names[names.index(names.startIndex, offsetBy: index)]
    }
}

/// What gives the value of a column by its name.
protocol ColumnValues {
    /// The value of a column.
    ///
    /// - Throws: `DatabaseError` where there is no such column, `RowDecodingError` for a value of another type.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: String, as type: Value.Type
    ) throws -> Value
}

extension ColumnValues {
    /// The value of a column.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: String) throws -> Value {
        try value(column, as: Value.self)
    }

    /// The value that a text stands for.
    ///
    /// - Throws: `DatabaseError` when this version does not know it, `RowDecodingError`.
    func known<Value: RawRepresentable>(_ column: String) throws -> Value where Value.RawValue == String {
        guard let value: Value = try knownIfPresent(column) else { throw DatabaseError.unknown(column) }
        return value
    }

    /// The value that a text stands for, nil for NULL.
    func knownIfPresent<Value: RawRepresentable>(_ column: String) throws -> Value? where Value.RawValue == String {
        guard let text = try value(column, as: String?.self) else { return nil }
        guard let value = Value(rawValue: text) else { throw DatabaseError.unknown(column) }
        return value
    }

    /// A time: a column holds its UNIX milliseconds.
    func date(_ column: String) throws -> Date { Date(milliseconds: try value(column)) }

    /// A time, nil for NULL.
    func dateIfPresent(_ column: String) throws -> Date? {
        try value(column, as: Int64?.self).map(Date.init(milliseconds:))
    }

    /// A user's id, nil for NULL.
    func userIfPresent(_ column: String) throws -> UserID? {
        try value(column, as: Data?.self).map(LinkRow.user)
    }

    /// Bytes.
    func bytes(_ column: String) throws -> [UInt8] { Array(try value(column, as: Data.self)) }

    /// What the columns of a purchase say, read in the order of `PurchaseRow.columns`.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    func purchase() throws -> PurchaseFacts {
        PurchaseFacts(
            environment: try known("environment"), transactionID: try value("transactionId"),
            originalTransactionID: try value("originalTransactionId"),
            webOrderLineItemID: try value("webOrderLineItemId"), appTransactionID: try value("appTransactionId"),
            appAccountToken: try value("appAccountToken"), productID: try value("productId"),
            productType: try value("productType", as: String?.self).map(ProductType.init(rawValue:)),
            purchaseDate: try date("purchaseDate"), expiresDate: try dateIfPresent("expiresDate"),
            isFamilyShared: try value("isFamilyShared"),
            isAdvancedCommerce: try value("isAdvancedCommerce"))
    }
}

extension DatabaseError {
    static func unknown(_ column: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown value in column \(column)")
    }
}

/// The conditions of a `WHERE`, each with its arguments.
struct Conditions {
    private var clauses: [String] = []
    private(set) var arguments = StatementArguments()

    /// All of them.
    var sql: String { clauses.joined(separator: " AND ") }

    /// Adds a condition with one `?` for each value.
    mutating func add(_ clause: String, _ values: (any DatabaseValueConvertible)...) { add(clause, values) }

    mutating func add(_ clause: String, _ values: [any DatabaseValueConvertible]) {
        clauses.append(clause)
        arguments += StatementArguments(values)
    }
}

extension SQLiteStore {
    /// The most values of one `IN` list.
    static let maximumListLength = 500

    static func placeholders(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }
}

extension Array {
    /// The array in runs of at most a length.
    func chunks(of length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
