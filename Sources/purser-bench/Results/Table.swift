import Foundation

/// The report as a table for people.
struct Table {
    private static let heads = ["figure", "measured", "reference", "ratio (least–most)", "goal", "met"]

    private let report: Report

    init(_ report: Report) { self.report = report }

    /// The table, as wide as its longest cells.
    var text: String {
        var lines = [report.machine.line, "\(report.repetitions) repetitions, medians\(Build.warning)", ""]
        let cells = report.entries.map { $0.figures.map(Self.cells) }
        let widths = Self.heads.indices.map { column in
            ([Self.heads] + cells.flatMap { $0 }).map { $0[column].count }.max() ?? 0
        }
        for (entry, rows) in zip(report.entries, cells) {
            lines.append("\(entry.row.number). \(entry.row.title) — against \(entry.row.reference)")
            if let failure = entry.failure {
                lines.append("   not measured: \(failure)")
            } else {
                lines.append("   " + Self.line(Self.heads, widths))
                lines += rows.map { "   " + Self.line($0, widths) }
                lines += entry.figures.compactMap { figure in figure.note.map { "   \(figure.name): \($0)" } }
            }
            lines.append("")
        }
        lines.append(summary)
        return lines.joined(separator: "\n")
    }

    /// How many goals are met; what was not measured is not.
    private var summary: String {
        let judged = report.entries.flatMap(\.figures).compactMap(\.isMet)
        let missed = report.entries.filter { $0.failure != nil }.map { "\($0.row.number)" }
        let unmeasured = missed.isEmpty ? "" : "; not measured: row \(missed.joined(separator: ", "))"
        return "\(judged.filter { $0 }.count) of \(judged.count) goals met\(unmeasured); "
            + "\(Unit.seconds.text(report.seconds)) in all"
    }

    private static func cells(_ figure: Figure) -> [String] {
        let met = figure.isMet.map { $0 ? "yes" : "no" } ?? "–"
        return [
            figure.name, figure.values.map { figure.unit.text($0.median) } ?? "–",
            figure.references.map { figure.unit.text($0.median) } ?? "–",
            figure.ratios.map { ratio in
                "\(Unit.plain(ratio.median)) (\(Unit.plain(ratio.minimum))–\(Unit.plain(ratio.maximum)))"
            } ?? "–",
            figure.goal?.text(figure.unit) ?? "–", met,
        ]
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (cell, width) in zip(cells, widths) {
            line += cell + String(repeating: " ", count: width - cell.count + 2)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

/// What a person sees.
enum Console {
    /// Writes to the standard output.
    static func print(_ text: String) { write(text, to: .standardOutput) }

    /// Writes a line to the standard error, so that the output holds the table alone.
    static func progress(_ text: String) { write(text, to: .standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to be told when this fails.
        try? handle.write(contentsOf: Data((text + "\n").utf8))
    }
}
