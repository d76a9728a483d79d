/// Writes tables as comma-separated values: UTF-8, lines that end in CR LF, and texts in quotes where they need them.
///
/// Source: RFC 4180. A spreadsheet evaluates a cell as a formula if it begins with `=`, `+`, `-`, `@`, one of their full-width forms
/// (U+FF1D, U+FF0B, U+FF0D, U+FF20), a tab, a line feed or a carriage return. A formula may send other cells to a server. Such a text
/// gets a single quote in front, by which spreadsheets mark text (https://owasp.org/www-community/attacks/CSV_Injection).
struct CSVWriter: Sendable {
    static let contentType = "text/csv; charset=utf-8; header=present"

    private static let quote = UInt8(ascii: "\"")
    /// In UTF-8.
    private static let formulaStarts: [[UInt8]] = [
        "=", "+", "-", "@", "\t", "\n", "\r", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ].map { Array($0.utf8) }
    private static let quoted = Set(",\"\r\n".utf8)

    private var bytes: [UInt8] = []
    private var isAtStartOfLine = true

    /// How much has been written and not been taken yet.
    var count: Int { bytes.count }

    /// The bytes written so far; the writer goes on behind them.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Writes the next field of the line; nothing between its commas for nil.
    mutating func field(_ text: String?) {
        separate()
        guard let text else { return }
        var content = Array(text.utf8)
        if Self.formulaStarts.contains(where: content.starts) { content.insert(UInt8(ascii: "'"), at: 0) }
        guard content.contains(where: Self.quoted.contains) else {
            bytes += content
            return
        }
        bytes.append(Self.quote)
        for byte in content {
            if byte == Self.quote { bytes.append(Self.quote) }
            bytes.append(byte)
        }
        bytes.append(Self.quote)
    }

    /// Writes a number as the next field; nothing between its commas for nil.
    mutating func field(_ number: (some BinaryInteger)?) {
        separate()
        if let number { bytes += Array(String(number).utf8) }
    }

    mutating func endLine() {
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        isAtStartOfLine = true
    }

    private mutating func separate() {
        if !isAtStartOfLine { bytes.append(UInt8(ascii: ",")) }
        isAtStartOfLine = false
    }
}
