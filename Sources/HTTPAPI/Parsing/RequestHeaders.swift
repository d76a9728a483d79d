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
        for preference in headers[values: .prefer].flatMap({ HeaderText.split($0, at: ",") }) {
            // What follows a semicolon are parameters, of which neither has any.
            let pair = HeaderText.split(preference, at: ";")[0].split(separator: "=", maxSplits: 1)
            switch pair.first.map({ HeaderText.trim($0).lowercased() }) {
            // Of several, only the first counts.
            case "wait" where !hasWait:
                hasWait = true
                wait = pair.count == 2 ? Self.seconds(HeaderText.trim(pair[1])) : nil
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

}

/// The media types that a client takes.
///
/// Source: RFC 9110 section 12.5.1. Parameters of media types other than their weight do not count; a weight that cannot be read
/// is left out.
struct AcceptHeader: Sendable {
    /// In thousandths, by type in lower case; the greatest where one is given several times.
    private var weights: [String: Int] = [:]

    init(_ headers: HTTPFields) {
        for element in headers[values: .accept].flatMap({ HeaderText.split($0, at: ",") }) {
            let parts = HeaderText.split(element, at: ";").map(HeaderText.trim)
            guard let type = parts.first?.lowercased(), !type.isEmpty else { continue }
            let weight = parts.dropFirst().lazy.compactMap(Self.weight).first ?? 1000
            weights[type] = max(weights[type] ?? 0, weight)
        }
    }

    /// Whether the client would rather have one type than another.
    func prefers(_ type: String, over other: String) -> Bool { weight(of: type) > weight(of: other) }

    /// How much a type is wanted, in thousandths: by the most precise range that it is in.
    private func weight(of type: String) -> Int {
        let range = type.prefix { $0 != "/" } + "/*"
        return weights[type] ?? weights[String(range)] ?? weights["*/*"] ?? (weights.isEmpty ? 1000 : 0)
    }

    /// The weight that a parameter gives, such as `q=0.5`; nil for any other parameter.
    private static func weight(_ parameter: Substring) -> Int? {
        guard let match = parameter.wholeMatch(of: /[qQ]=(?:0(?:\.([0-9]{0,3}))?|1(?:\.0{0,3})?)/) else { return nil }
        guard let digits = match.1 else { return parameter.utf8.dropFirst(2).first == UInt8(ascii: "1") ? 1000 : 0 }
        return Int(digits + String(repeating: "0", count: 3 - digits.count))
    }
}

/// What lists in header fields are made of (RFC 9110 section 5.6).
private enum HeaderText {
    /// The parts between separators that stand outside quotes; at least one.
    static func split(_ text: some StringProtocol, at separator: Character) -> [Substring] {
        var isQuoted = false
        return Substring(text).split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }

    /// The text without blanks around it.
    static func trim(_ text: Substring) -> Substring {
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
