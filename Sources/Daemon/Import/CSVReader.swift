import JSON

/// Reads comma-separated values as they come: RFC 4180, strictly, in one pass, each record within a bound.
///
/// Lines end with CRLF or LF. A record that breaks a rule is told with the line in which it begins, and reading goes on with
/// the line behind the place where it was given up.
struct CSVReader {
    private enum State {
        case fieldStart, unquoted, quoted
        /// Behind a quote within a quoted field: the end of the field, or the first half of a quote.
        case quote
        case carriageReturn
        /// Behind a fault, up to the end of the line.
        case skipping
    }

    private let maximumBytes: Int
    private var state = State.fieldStart
    private var fields: [String] = []
    private var field: [UInt8] = []
    /// How many bytes the record holds so far.
    private var size = 0
    private var fault: String?
    /// The line being read, and the one in which the record began; from 1.
    private var line = 1
    private var start = 1

    /// `maximumBytes`: of one record, without its quotes.
    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Reads what follows; records that it completes are appended.
    mutating func read(_ bytes: some Sequence<UInt8>, into records: inout [ImportRecord<[String]>]) {
        for byte in bytes {
            switch state {
            case .fieldStart where byte == UInt8(ascii: "\""): state = .quoted
            case .fieldStart, .unquoted: readUnquoted(byte, into: &records)
            case .quoted where byte == UInt8(ascii: "\""): state = .quote
            case .quoted:
                if byte == UInt8(ascii: "\n") { line += 1 }
                append(byte)
            case .quote where byte == UInt8(ascii: "\""):
                state = .quoted
                append(byte)
            case .quote:
                switch byte {
                case UInt8(ascii: ","): endField()
                case UInt8(ascii: "\r"): state = .carriageReturn
                case UInt8(ascii: "\n"): endRecord(into: &records)
                default: fail("text follows a closing quote; a quote within a quoted field is written twice")
                }
            case .carriageReturn:
                if byte == UInt8(ascii: "\n") {
                    endRecord(into: &records)
                } else {
                    fail("a carriage return stands without a line feed; put the field in quotes")
                }
            case .skipping: if byte == UInt8(ascii: "\n") { endRecord(into: &records) }
            }
        }
    }

    /// Ends the reading; the last line needs no line end.
    mutating func finish(into records: inout [ImportRecord<[String]>]) {
        switch state {
        case .quoted: fail("the quote that line \(start) opens is never closed")
        case .carriageReturn: fail("a carriage return stands without a line feed; put the field in quotes")
        case .fieldStart where fields.isEmpty: return
        case .fieldStart, .unquoted, .quote, .skipping: break
        }
        endRecord(into: &records)
    }

    private mutating func readUnquoted(_ byte: UInt8, into records: inout [ImportRecord<[String]>]) {
        switch byte {
        case UInt8(ascii: ","): endField()
        case UInt8(ascii: "\r"): state = .carriageReturn
        case UInt8(ascii: "\n"): endRecord(into: &records)
        case UInt8(ascii: "\""): fail("a quote stands within a field that is not in quotes")
        default:
            state = .unquoted
            append(byte)
        }
    }

    private mutating func append(_ byte: UInt8) {
        size += 1
        guard size <= maximumBytes else {
            return fail(
                "the record that begins in line \(start) is longer than \(maximumBytes) bytes; is a quote left open?")
        }
        field.append(byte)
    }

    private mutating func fail(_ reason: String) {
        fault = reason
        state = .skipping
        field.removeAll()
    }

    private mutating func endField() {
        size += 1
        // With an initialiser that repairs nothing: an id that is not UTF-8 is nobody's.
        guard let text = UntrustedText(validating: field) else { return fail("it is not UTF-8") }
        guard let checked = text.checked else { return fail(UntrustedText.longRunFault) }
        fields.append(checked)
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
        if size > maximumBytes { fail("the record is longer than \(maximumBytes) bytes") }
    }

    private mutating func endRecord(into records: inout [ImportRecord<[String]>]) {
        let isBlank = fields.isEmpty && field.isEmpty && (state == .fieldStart || state == .carriageReturn)
        if fault == nil, !isBlank { endField() }
        if let fault {
            records.append(ImportRecord(line: start, content: .failure(.syntax(fault))))
        } else if !isBlank {
            records.append(ImportRecord(line: start, content: .success(fields)))
        }
        fields.removeAll(keepingCapacity: true)
        field.removeAll(keepingCapacity: true)
        (size, fault, state) = (0, nil, .fieldStart)
        line += 1
        start = line
    }
}

/// Writes comma-separated values.
enum CSVText {
    /// A record with its line end.
    static func record(_ fields: [String]) -> String {
        fields.map { field in
            let isPlain = !field.utf8.contains { ",\"\r\n".utf8.contains($0) }
            return isPlain ? field : "\"\(field.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",") + "\r\n"
    }
}
