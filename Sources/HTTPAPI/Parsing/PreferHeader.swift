/// The preferences of a client.
///
/// Source: RFC 7240. Only `wait` and `respond-async` are honoured; a wait that is not a number of seconds is ignored.
struct PreferHeader: Sendable {
    /// How many seconds at most the client wants to wait, if it says.
    private(set) var wait: Int?
    /// Whether it would rather have an early response than wait for the end, where both are possible.
    private(set) var respondsAsync = false

    init(_ headers: RequestHeaders) {
        var hasWait = false
        for preference in headers[values: .prefer].flatMap({ HeaderText.split($0[...], at: UInt8(ascii: ",")) }) {
            // Parameters follow a semicolon; neither preference has any.
            let pair = HeaderText.split(preference, at: UInt8(ascii: ";"))[0].utf8
                .split(separator: UInt8(ascii: "="), maxSplits: 1).map(Substring.init)
            guard let name = pair.first.map(HeaderText.trim) else { continue }
            if HeaderText.matches(name, "wait") {
                // Of several, only the first counts.
                guard !hasWait else { continue }
                hasWait = true
                wait = pair.count == 2 ? Self.seconds(HeaderText.trim(pair[1])) : nil
            } else if HeaderText.matches(name, "respond-async") {
                respondsAsync = true
            }
        }
    }

    /// How many seconds at most a request may take.
    ///
    /// `goesOn`: whether it continues after an early response. Zero seconds could be honoured only by a failure.
    func wait(goesOn: Bool) -> Int? { goesOn || wait != 0 ? wait : nil }

    /// The preferences that are honoured, for the response; nil when none is.
    ///
    /// `goesOn`: whether the request continues after an early response.
    func applied(goesOn: Bool) -> String? {
        let async = respondsAsync && goesOn ? "respond-async" : nil
        let applied = [async, wait(goesOn: goesOn).map { "wait=\($0)" }].compactMap(\.self)
        return applied.isEmpty ? nil : applied.joined(separator: ", ")
    }

    private static func seconds(_ text: Substring) -> Int? {
        let quote = UInt8(ascii: "\"")
        let isQuoted = text.utf8.count >= 2 && text.utf8.first == quote && text.utf8.last == quote
        let digits = isQuoted ? text.utf8.dropFirst().dropLast() : text.utf8
        guard digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        return Int(Substring(digits))
    }
}

/// The parts of lists in header fields, by bytes (RFC 9110 section 5.6).
enum HeaderText {
    /// The parts between separators outside quotes; at least one.
    static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
        var isQuoted = false
        return text.utf8.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }.map(Substring.init)
    }

    /// The text without blanks around it.
    static func trim(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = text.utf8
        let end = bytes.lastIndex { !isBlank($0) }.map(bytes.index(after:)) ?? bytes.startIndex
        return Substring(bytes[..<end].drop(while: isBlank))
    }

    /// Whether a text is a word of ours, without regard to the case of ASCII letters.
    static func matches(_ text: Substring, _ lowercased: StaticString) -> Bool {
        lowercased.withUTF8Buffer { word in
            word.count == text.utf8.count && zip(text.utf8, word).allSatisfy { lower($0) == $1 }
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
