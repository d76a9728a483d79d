import GRDB

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
