import Domain
import Foundation

// How values stand in columns and in conditions, for the rows of every table.

/// A row whose columns are read one after the other, in the order in which they were asked for.
///
/// For the wide tables of the hot paths, where finding a column by its name is a third of reading the row.
final class OrderedRow: ColumnValues {
    private let row: SQLRow
    private var next = 0

    init(_ row: SQLRow) { self.row = row }

    /// The value of the next column, which must have this name.
    func value<Value: SQLValue>(
        _ column: String, as type: Value.Type
    ) throws -> Value {
        assert(row.columns.isName(column, at: next), "\(column) is not the next column")
        defer { next += 1 }
        return try row.value(at: next)
    }

    /// Leaves columns out.
    func skip(_ count: Int) { next += count }
}

/// What gives the value of a column by its name.
protocol ColumnValues {
    /// The value of a column.
    ///
    /// - Throws: `SQLError` where there is no such column, `SQLError` for a value of another type.
    func value<Value: SQLValue>(
        _ column: String, as type: Value.Type
    ) throws -> Value
}

extension ColumnValues {
    /// The value of a column.
    func value<Value: SQLValue>(_ column: String) throws -> Value {
        try value(column, as: Value.self)
    }

    /// The value that a text stands for.
    ///
    /// - Throws: `SQLError` when this version does not know it, `SQLError`.
    func known<Value: RawRepresentable>(_ column: String) throws -> Value where Value.RawValue == String {
        guard let value: Value = try knownIfPresent(column) else { throw SQLError.unknown(column) }
        return value
    }

    /// The value that a text stands for, nil for NULL.
    func knownIfPresent<Value: RawRepresentable>(_ column: String) throws -> Value? where Value.RawValue == String {
        guard let text = try value(column, as: String?.self) else { return nil }
        guard let value = Value(rawValue: text) else { throw SQLError.unknown(column) }
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
    /// - Throws: `SQLError` when the row holds what this version does not know.
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

/// The conditions of a `WHERE`, each with its arguments.
struct Conditions {
    private var clauses: [String] = []
    private(set) var arguments: SQLArguments = []

    /// All of them.
    var sql: String { clauses.joined(separator: " AND ") }

    /// Adds a condition with one `?` for each value.
    mutating func add(_ clause: String, _ values: (any SQLValue)...) { add(clause, values) }

    mutating func add(_ clause: String, _ values: [any SQLValue]) {
        clauses.append(clause)
        arguments += SQLArguments(values)
    }
}

extension Array {
    /// The array in runs of at most a length.
    func chunks(of length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
