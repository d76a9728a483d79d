import Foundation

/// What a daemon asked of PostgreSQL for one purchase or notification, as a script that pgbench can run for any number of others.
///
/// So the reference changes with the statements. It is read from the server's log (`log_statement = all`, the virtual transaction id in front of each
/// line). Values stand in it as they were; those that must differ from one run to the next are made anew: the marker, every UUID, and the
/// position of a row that was just inserted.
struct StatementScript: Sendable {
    /// A transaction, as it was logged.
    struct Transaction: Sendable, Equatable {
        /// Each with its values, as literals of SQL.
        var statements: [(text: String, values: [String])] = []

        static func == (left: Transaction, right: Transaction) -> Bool {
            left.statements.map(\.text) == right.statements.map(\.text)
                && left.statements.map(\.values) == right.statements.map(\.values)
        }

        func names(_ values: Set<String>) -> Bool {
            statements.contains { !values.isDisjoint(with: $0.values) }
        }

        var uuids: [String] { statements.flatMap(\.values).filter(StatementScript.isUUID) }
    }

    /// What pgbench runs.
    let text: String

    /// - Parameters:
    ///   - transactions: in the order in which they were carried out.
    ///   - marker: the value, as a literal, that all of the transactions are about.
    ///   - position: as a literal, that of the row that they inserted, if its rows have any.
    ///   - isCounted: whether the script is run for one number after the other, from `first` on, and for none twice; else for any.
    init(_ transactions: [Transaction], marker: String, position: String? = nil, isCounted: Bool = false) {
        var lines =
            isCounted
            ? ["\\set turn :turn + 1", "\\set n :first + :turn * :clients + :client_id"]
            : ["\\set n random(1, 999999999999)"]
        for transaction in transactions {
            // What goes to the server in one round trip.
            for statement in transaction.statements {
                let parts = statement.text.components(separatedBy: "; ")
                if parts.count > 1 { lines.append("\\startpipeline") }
                for part in parts {
                    let isPosition = part.hasPrefix("SELECT position FROM lastPosition")
                    lines.append(
                        Self.filled(part, statement.values, marker, position) + (isPosition ? " \\gset" : ";"))
                }
                if parts.count > 1 { lines.append("\\endpipeline") }
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// The transactions of a log that are about one thing: those that name it, or an id that came with it.
    static func transactions(in log: String, about names: Set<String>) -> [Transaction] {
        var order: [String] = []
        var found: [String: Transaction] = [:]
        for (id, entry) in entries(of: log) {
            if entry.hasPrefix("statement: ") {
                let text = String(entry.dropFirst("statement: ".count))
                if found[id] == nil { order.append(id) }
                found[id, default: Transaction()].statements.append((text, []))
            } else if let match = entry.prefixMatch(of: #/execute [^:]+: /#) {
                found[id, default: Transaction()].statements.append((String(entry[match.range.upperBound...]), []))
            } else if entry.hasPrefix("parameters: "), let last = found[id]?.statements.indices.last {
                found[id]?.statements[last].values = values(String(entry.dropFirst("parameters: ".count)))
            }
        }
        let all = order.compactMap { found[$0] }
        var known = names
        for transaction in all where transaction.names(known) { known.formUnion(transaction.uuids) }
        return all.filter { $0.names(known) }
    }

    /// The entries of a log, each with its transaction; lines that begin with a tab go on with the one before.
    private static func entries(of log: String) -> [(id: String, text: String)] {
        var entries: [(id: String, text: String)] = []
        for line in log.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix("\t") {
                if !entries.isEmpty { entries[entries.count - 1].text += "\n" + line.dropFirst() }
            } else if let match = line.prefixMatch(of: #/([0-9]+/[0-9]+) (LOG|DETAIL):  /#) {
                entries.append((String(match.1), String(line[match.range.upperBound...])))
            } else {
                // Of no transaction; nothing goes on with it.
                entries.append(("", ""))
            }
        }
        return entries.filter { !$0.id.isEmpty }
    }

    /// The values of an entry such as `$1 = 'a', $2 = NULL`, as literals.
    static func values(_ text: String) -> [String] {
        text.matches(of: /\$[0-9]+ = ('(?:[^']|'')*'|NULL)/).map { String($0.1) }
    }

    private static func isUUID(_ literal: String) -> Bool {
        literal.wholeMatch(of: /'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'/) != nil
    }

    /// A statement with its values in the place of their numbers.
    private static func filled(_ text: String, _ values: [String], _ marker: String, _ position: String?) -> String {
        text.replacing("\n", with: " ").replacing(/\$([0-9]+)/) { match in
            guard let number = Int(match.1), values.indices.contains(number - 1) else { return String(match.0) }
            let value = values[number - 1]
            // As many digits as a UUID ends with, and as a marker has.
            if isUUID(value) { return "(\(value.prefix(25))' || lpad((:n)::text, 12, '0'))" }
            if value == position { return "(:position)::bigint" }
            if value == marker { return "('5' || lpad((:n)::text, \(marker.count - 3), '0'))" }
            return value
        }
    }
}
