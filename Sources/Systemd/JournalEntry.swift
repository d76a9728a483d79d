/// The fields of one journal entry, as `NAME=value` in one run of bytes.
struct JournalEntry {
    /// The most fields of an entry; the rest is left out.
    static let maximumFields = 64

    /// The longest name of a field that journald takes.
    static let maximumNameBytes = 64

    private(set) var bytes: [UInt8] = []

    /// Where each field ends in ``bytes``.
    private(set) var ends: [Int] = []

    /// Adds a field, its value cut at the limit of a line.
    mutating func append(_ name: String, _ value: String) {
        guard ends.count < Self.maximumFields else { return }
        bytes += name.utf8
        bytes.append(UInt8(ascii: "="))
        LogText.append(value, to: &bytes, limit: LineWriter.maximumLineBytes)
        ends.append(bytes.count)
    }

    /// Makes a name that journald takes from any text: capitals, digits and `_`, after a prefix.
    ///
    /// Source: systemd.journal-fields(7), sd_journal_sendv(3)
    static func name(_ text: String, prefix: String) -> String {
        var name = prefix
        for byte in text.utf8.prefix(max(0, maximumNameBytes - prefix.utf8.count)) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): name.unicodeScalars.append(Unicode.Scalar(byte - 32))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name.append("_")
            }
        }
        return name
    }
}
