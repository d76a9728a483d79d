import JSON

/// What was read from one place of a file.
struct ImportRecord<Content: Sendable>: Sendable {
    /// The line in which it begins; the first one is 1.
    let line: Int
    let content: Result<Content, ImportProblem>
}

/// Why a line is not imported.
struct ImportProblem: Error, Equatable {
    /// Empty where it is about the whole line.
    var field = ""
    let rule: String
    let message: String
    /// Who was named, and who has the identifier; of a conflict alone.
    var user = ""
    var owner = ""

    /// The line is not what its format asks for.
    static func syntax(_ reason: String) -> ImportProblem {
        ImportProblem(rule: "syntax", message: "The line cannot be read: \(reason).")
    }
}

/// A line as it goes to the daemon.
struct ImportItem: Sendable {
    /// The app that it names itself.
    let app: String?
    /// A JSON object without `app` and without what is null or empty.
    let json: [UInt8]
    /// The same for all lines about one identifier, and for few others.
    let identity: Int
}

/// A file that is no list of what it should hold.
struct ImportFileError: Error, CustomStringConvertible {
    let description: String
}

/// Makes items of a file of comma-separated values with a header, or of JSON objects, one a line; the first byte tells which.
struct ImportReader {
    /// What a file may tell.
    struct Columns {
        let required: [String]
        let optional: [String]
        /// Which of them say what a line is about.
        let identity: [String]
    }

    private enum Format {
        case csv(CSVReader, columns: [String]?)
        case json(LineReader)
    }

    private let columns: Columns
    private let maximumBytes: Int
    /// Nil until the first byte is there.
    private var format: Format?
    private var isBeginning = true
    private var head: [UInt8] = []

    /// `maximumBytes`: of one line or record.
    init(_ columns: Columns, maximumBytes: Int) {
        self.columns = columns
        self.maximumBytes = maximumBytes
    }

    /// Reads what follows.
    ///
    /// - Throws: `ImportFileError` for a header that will not do.
    mutating func read(_ bytes: [UInt8]) throws(ImportFileError) -> [ImportRecord<ImportItem>] {
        if format == nil {
            head += bytes
            // A spreadsheet's byte order mark has three bytes.
            guard head.count > 3 else { return [] }
            return try begin()
        }
        return try take(bytes)
    }

    /// Ends the reading.
    ///
    /// - Throws: `ImportFileError` for a file that holds nothing.
    mutating func finish() throws(ImportFileError) -> [ImportRecord<ImportItem>] {
        var items = format == nil ? try begin() : []
        switch format {
        case .csv(var reader, let names):
            var records: [ImportRecord<[String]>] = []
            reader.finish(into: &records)
            format = .csv(reader, columns: names)
            items += try takeCSV(records)
            if case .csv(_, nil) = format { throw ImportFileError(description: "The file is empty; \(expectation).") }
        case .json(var reader):
            var lines: [ImportRecord<[UInt8]>] = []
            reader.finish(into: &lines)
            items += lines.map(item(ofJSON:))
        case nil: break
        }
        return items
    }

    private mutating func begin() throws(ImportFileError) -> [ImportRecord<ImportItem>] {
        let bytes = head.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(head.dropFirst(3)) : head
        head = []
        let first = bytes.first { !" \t\r\n".utf8.contains($0) }
        format =
            first == UInt8(ascii: "{")
            ? .json(LineReader(maximumBytes: maximumBytes))
            : .csv(CSVReader(maximumBytes: maximumBytes), columns: nil)
        return try take(bytes)
    }

    private mutating func take(_ bytes: [UInt8]) throws(ImportFileError) -> [ImportRecord<ImportItem>] {
        switch format {
        case .csv(var reader, let names):
            // Not shared while it reads, so that nothing is copied.
            format = nil
            var records: [ImportRecord<[String]>] = []
            reader.read(bytes, into: &records)
            format = .csv(reader, columns: names)
            return try takeCSV(records)
        case .json(var reader):
            format = nil
            var lines: [ImportRecord<[UInt8]>] = []
            reader.read(bytes, into: &lines)
            format = .json(reader)
            return lines.map(item(ofJSON:))
        case nil: return []
        }
    }

    // MARK: Comma-separated values

    private mutating func takeCSV(
        _ records: [ImportRecord<[String]>]
    ) throws(ImportFileError) -> [ImportRecord<ImportItem>] {
        guard case .csv(let reader, var names) = format else { return [] }
        var items: [ImportRecord<ImportItem>] = []
        for record in records {
            if let names {
                items.append(item(of: record, names))
            } else {
                names = try header(record)
                format = .csv(reader, columns: names)
            }
        }
        return items
    }

    private var expectation: String {
        "its first line names the columns: \(columns.required.joined(separator: ", ")), and any of \(columns.optional.joined(separator: ", "))"
    }

    private func header(_ record: ImportRecord<[String]>) throws(ImportFileError) -> [String] {
        guard case .success(let names) = record.content else {
            throw ImportFileError(description: "Line \(record.line) is no header of a CSV file; \(expectation).")
        }
        let known = Set(columns.required + columns.optional)
        let unknown = names.filter { !known.contains($0) }
        let missing = columns.required.filter { !names.contains($0) }
        guard unknown.isEmpty, missing.isEmpty, Set(names).count == names.count else {
            var faults: [String] = []
            if !missing.isEmpty { faults.append("lacks \(missing.joined(separator: ", "))") }
            if !unknown.isEmpty { faults.append("has the unknown \(unknown.joined(separator: ", "))") }
            if Set(names).count < names.count { faults.append("names a column twice") }
            throw ImportFileError(
                description: "The header in line \(record.line) \(faults.joined(separator: " and ")); \(expectation).")
        }
        return names
    }

    private func item(of record: ImportRecord<[String]>, _ names: [String]) -> ImportRecord<ImportItem> {
        let content = record.content.flatMap { values -> Result<ImportItem, ImportProblem> in
            guard values.count == names.count else {
                return .failure(.syntax("it has \(values.count) fields where the header has \(names.count)"))
            }
            var (app, hasher): (String?, Hasher) = (nil, Hasher())
            var writer = JSONWriter(capacity: 192)
            writer.object { writer in
                for (name, value) in zip(names, values) where !value.isEmpty {
                    if name == "app" { app = value } else { writer.member(name, value) }
                }
            }
            for (name, value) in zip(names, values) where columns.identity.contains(name) { hasher.add(name, value) }
            return .success(ImportItem(app: app, json: writer.bytes, identity: hasher.finalize()))
        }
        return ImportRecord(line: record.line, content: content)
    }

    // MARK: JSON lines

    private func item(ofJSON record: ImportRecord<[UInt8]>) -> ImportRecord<ImportItem> {
        let content = record.content.flatMap { bytes -> Result<ImportItem, ImportProblem> in
            let members: JSONMembers
            do {
                members = try JSONScanner.members(of: bytes)
            } catch {
                return .failure(.syntax("it must be one JSON object: \(error)"))
            }
            var (app, hasher): (String?, Hasher) = (nil, Hasher())
            var writer = JSONWriter(capacity: bytes.count)
            writer.object { writer in
                for (name, value) in members where !value.isNull {
                    if name == "app", let text = value.string {
                        app = text.streamSafe
                    } else {
                        writer.memberRaw(name, value.rawBytes)
                    }
                }
            }
            for name in columns.identity.sorted() {
                if let text = members[name]?.string { hasher.add(name, text.streamSafe) }
            }
            return .success(ImportItem(app: app, json: writer.bytes, identity: hasher.finalize()))
        }
        return ImportRecord(line: record.line, content: content)
    }
}

extension Hasher {
    /// Adds one field of what identifies a line; case does not matter, as it does not in a UUID.
    fileprivate mutating func add(_ name: String, _ value: String) {
        combine(name)
        combine(value.lowercased())
    }
}

/// Cuts lines at line feeds as they come, each within a bound.
struct LineReader {
    private let maximumBytes: Int
    private var bytes: [UInt8] = []
    private var isTooLong = false
    private var line = 1

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Reads what follows; lines that it completes are appended, blank ones left out.
    mutating func read(_ chunk: [UInt8], into lines: inout [ImportRecord<[UInt8]>]) {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            endLine(into: &lines)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    /// Ends the reading; the last line needs no line feed.
    mutating func finish(into lines: inout [ImportRecord<[UInt8]>]) { endLine(into: &lines) }

    private mutating func append(_ slice: ArraySlice<UInt8>) {
        isTooLong = isTooLong || bytes.count + slice.count > maximumBytes
        if isTooLong { bytes.removeAll() } else { bytes += slice }
    }

    private mutating func endLine(into lines: inout [ImportRecord<[UInt8]>]) {
        if isTooLong {
            let problem = ImportProblem.syntax("it is longer than \(maximumBytes) bytes")
            lines.append(ImportRecord(line: line, content: .failure(problem)))
        } else if !bytes.allSatisfy({ " \t\r".utf8.contains($0) }) {
            lines.append(ImportRecord(line: line, content: .success(bytes)))
        }
        (bytes, isTooLong) = ([], false)
        line += 1
    }
}
