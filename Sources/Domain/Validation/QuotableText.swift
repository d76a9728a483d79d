/// Decides whether an error or a log line may quote a text that an operator or a caller wrote.
///
/// People paste keys, tokens and passwords into fields that are not for secrets, and errors end up in terminals, logs and
/// tickets. So a text that may be a secret, or a part of one, is replaced. The check is linear.
package enum QuotableText {
    /// The longest text that is quoted, in bytes of UTF-8.
    package static let maximumBytes = 64
    /// The longest run of letters, digits and `+/=-_:` in a text that is quoted: longer than a UUID or an IPv6 address, shorter
    /// than a line of Base64 with a part of a P-256 key, a master key in hexadecimal digits, or a caller's token.
    package static let maximumRun = 39
    /// What is quoted instead.
    package static let replacement = "(not shown)"

    /// Whether a value cannot be a secret.
    ///
    /// It is short, contains no control character and no long run, and is no line of PEM, caller's token, URL with a password
    /// or setting of one.
    package static func isQuotable(_ text: some StringProtocol) -> Bool {
        let bytes = text.utf8.prefix(maximumBytes + 1).map(lowercased)
        return bytes.count <= maximumBytes && isName(bytes) && !holdsPassword(bytes)
    }

    /// A name that someone else has chosen, such as the key of a table, or ``replacement``.
    package static func name(_ text: some StringProtocol) -> String {
        let bytes = text.utf8.prefix(maximumBytes + 1).map(lowercased)
        return bytes.count <= maximumBytes && isName(bytes) ? String(text) : replacement
    }

    /// A path that someone has typed, or ``replacement``.
    ///
    /// Names of folders may be long digests, so neither length nor runs count.
    package static func path(_ text: some StringProtocol) -> String {
        let bytes = text.utf8.map(lowercased)
        return hasControls(bytes) || isMarked(bytes) ? replacement : String(text)
    }

    private static func isName(_ bytes: [UInt8]) -> Bool {
        !hasControls(bytes) && !isMarked(bytes) && longestRun(bytes) <= maximumRun
    }

    private static func hasControls(_ bytes: [UInt8]) -> Bool { bytes.contains { $0 < 0x20 || $0 == 0x7F } }

    /// Whether bytes contain what a line of PEM, or a caller's token, is known by.
    private static func isMarked(_ bytes: [UInt8]) -> Bool {
        ["-----begin", "-----end", OpaqueToken.prefix].contains { contains(bytes, $0) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The length of the longest run of what Base64 and hexadecimal digits are made of.
    private static func longestRun(_ bytes: [UInt8]) -> Int {
        var (longest, current) = (0, 0)
        for byte in bytes {
            let isDigit =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            current = isDigit ? current + 1 : 0
            longest = max(longest, current)
        }
        return longest
    }

    /// Whether bytes contain a word in lower case.
    private static func contains(_ bytes: [UInt8], _ word: String) -> Bool {
        guard bytes.count >= word.utf8.count else { return false }
        return (0...(bytes.count - word.utf8.count)).contains { bytes[$0...].starts(with: word.utf8) }
    }

    /// Whether bytes contain the word, or have `://`, and after it a colon and then an `@`: a URL with user and password
    /// (RFC 3986 section 3.2.1).
    ///
    /// A password that is not percent-encoded may contain slashes, so the `@` counts wherever it is.
    private static func holdsPassword(_ bytes: [UInt8]) -> Bool {
        if contains(bytes, "password") { return true }
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return false }
        var isBehindScheme = false
        var slashes = 0
        for byte in bytes[..<at] {
            if isBehindScheme, byte == UInt8(ascii: ":") { return true }
            slashes = byte == UInt8(ascii: "/") ? slashes + 1 : 0
            if slashes == 2 { isBehindScheme = true }
        }
        return false
    }
}
