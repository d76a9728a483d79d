import HTTPTypes

/// The preferences of a client.
///
/// Source: RFC 7240. Only `wait` is honoured, and a value that is not a number of seconds is ignored.
enum PreferHeader {
    /// How many seconds at most the client wants to wait, if it says.
    static func wait(_ headers: HTTPFields) -> Int? {
        let preferences = headers[values: .prefer].flatMap { split($0, at: ",") }
        for preference in preferences {
            // What follows a semicolon are parameters, of which `wait` has none.
            let pair = split(preference, at: ";")[0].split(separator: "=", maxSplits: 1)
            guard let name = pair.first, trim(name).lowercased() == "wait" else { continue }
            // Of several, only the first counts.
            return pair.count == 2 ? seconds(trim(pair[1])) : nil
        }
        return nil
    }

    private static func seconds(_ text: Substring) -> Int? {
        let isQuoted = text.count >= 2 && text.first == "\"" && text.last == "\""
        let digits = isQuoted ? text.dropFirst().dropLast() : text
        guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        return Int(digits)
    }

    /// The parts between separators that stand outside quotes; at least one.
    private static func split(_ text: some StringProtocol, at separator: Character) -> [Substring] {
        var isQuoted = false
        return Substring(text).split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }

    private static func trim(_ text: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let end = text.lastIndex { !isSpace($0) }.map(text.index(after:)) ?? text.startIndex
        return text[..<end].drop(while: isSpace)
    }
}

extension HTTPField.Name {
    /// What the client would like (RFC 7240 section 2).
    static let prefer = HTTPField.Name("Prefer") ?? .via
    /// Which of it was honoured (RFC 7240 section 3).
    static let preferenceApplied = HTTPField.Name("Preference-Applied") ?? .via
}
