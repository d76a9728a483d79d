import StoreSQL

/// A statement of the rules, which is SQLite's, as PostgreSQL wants it.
///
/// What differs is little, and the same everywhere: how arguments are marked, signs that keep SQLite's planner from an index,
/// functions of several arguments, and words that are reserved. What cannot be said the same way in both is not in the rules.
struct PostgresText: Sendable {
    let text: String
    /// Which argument each `$1`, `$2`, … of a statement with names is; empty where arguments have an order.
    let names: [String]

    init(_ sql: String) {
        var translation = Translation(Array(sql.utf8))
        text = translation.run()
        names = translation.names
    }

    /// The arguments in the order of the statement's numbers.
    func values(_ arguments: SQLArguments) -> [SQLDatum] {
        names.isEmpty ? arguments.values : names.map { arguments.named[$0] ?? .null }
    }
}

/// One walk through a statement.
private struct Translation {
    private let source: [UInt8]
    private var place = 0
    private var output = ""
    private var lastNumber = 0
    fileprivate private(set) var names: [String] = []

    init(_ source: [UInt8]) { self.source = source }

    mutating func run() -> String {
        while place < source.count { step() }
        return output
    }

    private mutating func step() {
        switch source[place] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): copyQuoted()
        case UInt8(ascii: "-") where at(place + 1) == UInt8(ascii: "-"): skipComment()
        case UInt8(ascii: "?"): mark()
        case UInt8(ascii: ":") where isLetter(at(place + 1)): name()
        case UInt8(ascii: "+") where isLetter(at(place + 1)): place += 1
        case let byte where isLetter(byte): word()
        case let byte where isDigit(byte): copy { isDigit($0) || isLetter($0) }
        case let byte:
            output.unicodeScalars.append(Unicode.Scalar(byte))
            place += 1
        }
    }

    // MARK: Arguments

    private mutating func mark() {
        place += 1
        let digits = take { isDigit($0) }
        if digits.isEmpty { lastNumber += 1 }
        output += "$" + (digits.isEmpty ? "\(lastNumber)" : digits)
    }

    private mutating func name() {
        place += 1
        let name = take { isLetter($0) || isDigit($0) }
        let index = names.firstIndex(of: name) ?? names.count
        if index == names.count { names.append(name) }
        output += "$\(index + 1)"
    }

    // MARK: Words

    private mutating func word() {
        let start = place
        let word = take { isLetter($0) || isDigit($0) }
        switch word {
        // A reserved word, and the name of a column.
        case "user": output += "\"user\""
        // What an UPDATE finds its rows by again within one statement.
        case "rowid": output += "ctid"
        case "IS": output += isComparison(from: place) ? "IS NOT DISTINCT FROM" : comparisonBehindNot ?? "IS"
        // The planner's business.
        case "INDEXED":
            skipSpaces()
            if take({ isLetter($0) }) == "BY" { skipSpaces() }
            _ = take { isLetter($0) || isDigit($0) }
        case "CROSS": skipSpaces()
        case "x" where at(place) == UInt8(ascii: "'"):
            place += 1
            output += "'\\x" + take { $0 != UInt8(ascii: "'") } + "'::bytea"
            place += 1
        case "min", "max", "iif", "CAST":
            guard at(place) == UInt8(ascii: "("), let parts = parts() else {
                output += word
                return
            }
            call(word, parts, from: start)
        default: output += word
        }
    }

    /// Whether what follows is compared with, and none of the words that both can test.
    private func isComparison(from place: Int) -> Bool {
        let rest = source[place...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return !["NULL", "NOT", "DISTINCT", "TRUE", "FALSE"].contains { rest.starts(with: $0.utf8) }
    }

    /// The words for `IS NOT` before something that is compared with, and steps over `NOT` then.
    private var comparisonBehindNot: String? {
        mutating get {
            guard source[place...].starts(with: " NOT ".utf8), isComparison(from: place + 5) else { return nil }
            place += 4
            return "IS DISTINCT FROM"
        }
    }

    private mutating func call(_ function: String, _ parts: [ArraySlice<UInt8>], from start: Int) {
        let end = (parts.last?.endIndex ?? place) + 1
        let before = place
        place = end
        switch (function, parts.count) {
        case ("min", 2...): output += "least(" + parts.map { inner($0) }.joined(separator: ",") + ")"
        case ("max", 2...): output += "greatest(" + parts.map { inner($0) }.joined(separator: ",") + ")"
        case ("iif", 3):
            let parts = parts.map { inner($0) }
            output += "CASE WHEN \(parts[0]) THEN \(parts[1]) ELSE \(parts[2]) END"
        case ("CAST", 1):
            // Bytes are text in UTF-8, and text such bytes.
            let content = String(decoding: parts[0], as: UTF8.self)
            if content.hasSuffix(" AS TEXT") {
                output += "convert_from(\(inner(parts[0].dropLast(8))), 'UTF8')"
            } else if content.hasSuffix(" AS BLOB") {
                output += "convert_to(\(inner(parts[0].dropLast(8))), 'UTF8')"
            } else {
                output += "CAST(\(inner(parts[0])))"
            }
        default:
            place = before
            output += function
        }
    }

    /// A part of the statement, whose arguments count on.
    private mutating func inner(_ part: ArraySlice<UInt8>) -> String {
        var translation = Translation(Array(part))
        translation.lastNumber = lastNumber
        translation.names = names
        let text = translation.run()
        lastNumber = translation.lastNumber
        names = translation.names
        return text
    }

    /// The arguments of the call whose parenthesis stands here; nil where it does not end.
    private func parts() -> [ArraySlice<UInt8>]? {
        var (depth, start, index) = (0, place + 1, place)
        var parts: [ArraySlice<UInt8>] = []
        while index < source.count {
            switch source[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 { return parts + [source[start..<index]] }
            case UInt8(ascii: ",") where depth == 1:
                parts.append(source[start..<index])
                start = index + 1
            case UInt8(ascii: "'"):
                index += 1
                while index < source.count, source[index] != UInt8(ascii: "'") { index += 1 }
            default: break
            }
            index += 1
        }
        return nil
    }

    // MARK: Characters

    private func at(_ index: Int) -> UInt8 { index < source.count ? source[index] : 0 }

    private mutating func take(_ isPart: (UInt8) -> Bool) -> String {
        let start = place
        while place < source.count, isPart(source[place]) { place += 1 }
        return String(decoding: source[start..<place], as: UTF8.self)
    }

    private mutating func copy(_ isPart: (UInt8) -> Bool) { output += take(isPart) }

    private mutating func skipSpaces() {
        while at(place) == UInt8(ascii: " ") || at(place) == UInt8(ascii: "\n") { place += 1 }
    }

    private mutating func skipComment() {
        while place < source.count, source[place] != UInt8(ascii: "\n") { place += 1 }
    }

    private mutating func copyQuoted() {
        let quote = source[place]
        let start = place
        place += 1
        while place < source.count, source[place] != quote { place += 1 }
        place = min(place + 1, source.count)
        output += String(decoding: source[start..<place], as: UTF8.self)
    }
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || byte == UInt8(ascii: "_")
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
