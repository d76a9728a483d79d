import Domain
import Postgres
import StoreSQL

/// A table that is copied from SQLite's tables into PostgreSQL's.
struct MovedTable {
    /// How often progress is told within a table, in rows.
    private static let interval = 50_000

    /// As SQLite's tables are called.
    let name: String
    /// As both find it.
    let quoted: String
    private let columns: [Column]

    private struct Column {
        let quoted: String
        let type: String
        /// Under which name its last number is kept; nil for a column without numbers of its own.
        let positions: String?
    }

    /// All tables of a store, those that others refer to before them.
    ///
    /// - Throws: `storeUnavailable` when PostgreSQL's tables have no place for something; `PostgresError`, `SQLError`.
    static func all(_ source: SQLDatabase, _ target: PostgresDatabase) throws -> [MovedTable] {
        let names = try String.fetchAll(
            source,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations' ORDER BY name
                """)
        let tables = try names.map { try MovedTable($0, source, target) }
        return inOrder(tables, try references(target))
    }

    private init(_ name: String, _ source: SQLDatabase, _ target: PostgresDatabase) throws {
        self.name = name
        quoted = "\"\(name.lowercased())\""
        let theirs = try SQLRow.fetchAll(
            target,
            sql: """
                SELECT column_name, data_type, coalesce(column_default, '') AS preset FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position
                """, arguments: [name.lowercased()])
        var known = Set(
            try String.fetchAll(source, sql: "SELECT lower(name) FROM pragma_table_info(?)", arguments: [name]))
        columns = try theirs.compactMap { row in
            let column = try row.value("column_name", as: String.self)
            // Of PostgreSQL's alone: it has what it has by default.
            guard known.remove(column) != nil else { return nil }
            let preset = try row.value("preset", as: String.self)
            let positions = preset.hasPrefix("nextposition(") ? preset.split(separator: "'").dropFirst().first : nil
            let isOfUsage = name == "usage" && column == "position"
            return Column(
                quoted: "\"\(column)\"", type: try row.value("data_type", as: String.self),
                positions: isOfUsage ? name : positions.map(String.init))
        }
        guard known.isEmpty, !columns.isEmpty else {
            throw PostgresMove.refusal("PostgreSQL's tables have no place for \(name): \(known.sorted()).")
        }
    }

    private var list: String { columns.map(\.quoted).joined(separator: ", ") }

    // MARK: Order

    private static func references(_ target: PostgresDatabase) throws -> [String: Set<String>] {
        let rows = try SQLRow.fetchAll(
            target,
            sql: """
                SELECT a.relname AS referring, b.relname AS referred FROM pg_constraint AS c
                JOIN pg_class AS a ON a.oid = c.conrelid JOIN pg_class AS b ON b.oid = c.confrelid
                WHERE c.contype = 'f'
                """)
        return try rows.reduce(into: [:]) { found, row in
            found[try row.value("referring", as: String.self), default: []].insert(
                try row.value("referred", as: String.self))
        }
    }

    /// References lead in no circle.
    private static func inOrder(_ tables: [MovedTable], _ references: [String: Set<String>]) -> [MovedTable] {
        var rest = tables
        var ordered: [MovedTable] = []
        while !rest.isEmpty {
            let waiting = Set(rest.map { $0.name.lowercased() })
            let isReady = { (table: MovedTable) in
                references[table.name.lowercased(), default: []].subtracting([table.name.lowercased()])
                    .isDisjoint(with: waiting)
            }
            let ready = rest.filter(isReady)
            guard !ready.isEmpty else { return ordered + rest }
            ordered += ready
            rest.removeAll(where: isReady)
        }
        return ordered
    }

    // MARK: Rows

    /// Writes every row of the source.
    ///
    /// - Returns: what they come to, as they were read.
    /// - Throws: `storeUnavailable` naming a column whose value PostgreSQL cannot keep; `PostgresError`, `SQLError`.
    func copy(
        _ source: SQLDatabase, _ target: PostgresConnection, _ omitted: (table: String, position: Int64)?,
        _ digest: @escaping TableDigest.Function, _ progress: (String, Int) -> Void
    ) throws -> TableDigest {
        // What triggers would do the source's have done; and what came with the table is the source's to say.
        try target.run(script: "ALTER TABLE \(quoted) DISABLE TRIGGER USER; DELETE FROM \(quoted)")
        let without = omitted.flatMap { $0.table == name ? " WHERE position <> \($0.position)" : nil } ?? ""
        let rows = try source.makeStatement(sql: "SELECT \(list) FROM \(quoted)\(without)").cursor(arguments: [])
        var sum = TableDigest()
        try target.copy("COPY \(quoted) (\(list)) FROM STDIN (FORMAT binary)") {
            guard let row = try rows.next() else { return nil }
            try sum.add(row.values, digest)
            if sum.rowCount.isMultiple(of: Self.interval) { progress(name, sum.rowCount) }
            return try zip(columns, row.values).map { try value($1, of: $0) }
        }
        try target.run(script: "ALTER TABLE \(quoted) ENABLE TRIGGER USER")
        if sum.rowCount > 0 { progress(name, sum.rowCount) }
        return sum
    }

    private func value(_ datum: SQLDatum, of column: Column) throws -> PostgresValue {
        switch (datum, column.type) {
        case (.null, _): return .null
        case (.integer(let number), "bigint"): return .integer(number)
        case (.text(let text), "text") where !text.utf8.contains(0): return .text(text)
        case (.bytes(let bytes), "bytea"): return .bytes(bytes)
        default:
            throw PostgresMove.refusal(
                "A value in the column \(column.quoted) of the table \(name) is none that PostgreSQL keeps there (\(column.type)); `purser store check` examines the store."
            )
        }
    }

    /// What the rows that arrived come to.
    func read(_ target: PostgresDatabase, _ digest: @escaping TableDigest.Function) throws -> TableDigest {
        let rows = try target.makeStatement(sql: "SELECT \(list) FROM \(quoted)").cursor(arguments: [])
        var sum = TableDigest()
        while let row = try rows.next() { try sum.add(row.values, digest) }
        return sum
    }

    /// Lets numbers go on where they ended, also behind rows that are gone, and PostgreSQL know how much there is.
    func settle(_ source: SQLDatabase, _ connection: PostgresConnection, _ target: PostgresDatabase) throws {
        for column in columns {
            guard let positions = column.positions else { continue }
            let highest = try Int64.fetchOne(source, sql: "SELECT max(\(column.quoted)) FROM \(quoted)") ?? 0
            let last = max(highest, try source.lastPosition(of: name))
            try connection.execute(
                """
                INSERT INTO lastPosition (ofTable, position) VALUES ($1, $2)
                ON CONFLICT (ofTable) DO UPDATE SET position = excluded.position
                """, [.text(positions), .integer(last)])
        }
        try connection.run(script: "ANALYZE \(quoted)")
    }
}
