package import Foundation

/// A value as engines keep it.
package enum SQLDatum: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// What can be an argument of a statement and the value of a column.
package protocol SQLValue: Sendable {
    /// As engines keep it.
    var datum: SQLDatum { get }

    /// Nil for a value of another type, or out of bounds.
    init?(datum: SQLDatum)
}

extension SQLValue where Self: FixedWidthInteger {
    package var datum: SQLDatum { .integer(Int64(self)) }

    package init?(datum: SQLDatum) {
        guard case .integer(let number) = datum else { return nil }
        self.init(exactly: number)
    }
}

extension Int: SQLValue {}
extension Int32: SQLValue {}
extension Int64: SQLValue {}

/// Kept as 1 or 0.
extension Bool: SQLValue {
    package var datum: SQLDatum { .integer(self ? 1 : 0) }

    package init?(datum: SQLDatum) {
        guard case .integer(let number) = datum else { return nil }
        self = number != 0
    }
}

extension String: SQLValue {
    package var datum: SQLDatum { .text(self) }

    package init?(datum: SQLDatum) {
        guard case .text(let text) = datum else { return nil }
        self = text
    }
}

extension Data: SQLValue {
    package var datum: SQLDatum { .bytes(Array(self)) }

    package init?(datum: SQLDatum) {
        guard case .bytes(let bytes) = datum else { return nil }
        self.init(bytes)
    }
}

extension [UInt8]: SQLValue {
    package var datum: SQLDatum { .bytes(self) }

    package init?(datum: SQLDatum) {
        guard case .bytes(let bytes) = datum else { return nil }
        self = bytes
    }
}

/// Nil is NULL.
extension Optional: SQLValue where Wrapped: SQLValue {
    package var datum: SQLDatum { map(\.datum) ?? .null }

    package init?(datum: SQLDatum) {
        if case .null = datum {
            self = .none
        } else {
            guard let value = Wrapped(datum: datum) else { return nil }
            self = .some(value)
        }
    }
}

/// The arguments of a statement: in the order of its question marks, or by the names that it has after colons.
package struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// In their order; empty where they have names.
    package private(set) var values: [SQLDatum]
    /// By their names; empty where they have an order.
    package let named: [String: SQLDatum]

    package init(_ values: some Sequence<any SQLValue> = []) {
        self.values = values.map(\.datum)
        named = [:]
    }

    /// Of one type.
    package init<Value: SQLValue>(_ values: [Value]) {
        self.values = values.map(\.datum)
        named = [:]
    }

    package init(arrayLiteral elements: (any SQLValue)?...) {
        values = elements.map { $0?.datum ?? .null }
        named = [:]
    }

    package init(dictionaryLiteral elements: (String, (any SQLValue)?)...) {
        values = []
        named = Dictionary(elements.map { ($0, $1?.datum ?? .null) }) { $1 }
    }

    package static func + (first: SQLArguments, second: SQLArguments) -> SQLArguments {
        var sum = first
        sum += second
        return sum
    }

    package static func += (first: inout SQLArguments, second: SQLArguments) { first.values += second.values }
}
