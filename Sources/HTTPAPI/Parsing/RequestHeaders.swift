import HTTPTypes

/// The preferences of a client.
///
/// Source: RFC 7240. Only `wait` and `respond-async` are honoured; a wait that is not a number of seconds is ignored.
struct PreferHeader: Sendable {
    /// How many seconds at most the client wants to wait, if it says.
    private(set) var wait: Int?
    /// Whether it would rather be answered early than wait for the end, where both can be had.
    private(set) var respondsAsync = false

    init(_ headers: HTTPFields) {
        var hasWait = false
        for preference in headers[values: .prefer].flatMap({ Self.split($0, at: ",") }) {
            // What follows a semicolon are parameters, of which neither has any.
            let pair = Self.split(preference, at: ";")[0].split(separator: "=", maxSplits: 1)
            switch pair.first.map({ Self.trim($0).lowercased() }) {
            // Of several, only the first counts.
            case "wait" where !hasWait:
                hasWait = true
                wait = pair.count == 2 ? Self.seconds(Self.trim(pair[1])) : nil
            case "respond-async": respondsAsync = true
            default: break
            }
        }
    }

    /// How many seconds at most a request may take.
    ///
    /// `goesOn`: whether it goes on after an early answer. No time at all could not be honoured otherwise but by a failure.
    func wait(goesOn: Bool) -> Int? { goesOn || wait != 0 ? wait : nil }

    /// What of it is honoured, for the answer; nil when nothing is.
    ///
    /// `goesOn`: whether the request goes on after an early answer.
    func applied(goesOn: Bool) -> String? {
        let async = respondsAsync && goesOn ? "respond-async" : nil
        let applied = [async, wait(goesOn: goesOn).map { "wait=\($0)" }].compactMap(\.self)
        return applied.isEmpty ? nil : applied.joined(separator: ", ")
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
    /// Who asked the proxies on the way, first the client; only trusted proxies are believed.
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .via
    /// The key of a request that may be repeated (draft-ietf-httpapi-idempotency-key-header).
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .via
}
