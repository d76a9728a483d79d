/// The name of a language as the web and Apple's platforms write it, such as `de`, `de-CH` or `zh-Hant-TW`.
package enum LanguageTag {
    /// The longest tag, in bytes: no registered language needs more.
    ///
    /// Source: RFC 5646 section 4.4.1
    package static let maximumBytes = 35
    /// The longest subtag, in bytes.
    private static let longestSubtag = 8

    /// Whether a text has the form of a tag; which languages there are, nobody looks up.
    ///
    /// Source: RFC 5646 section 2.1 (https://www.rfc-editor.org/rfc/rfc5646)
    package static func isWellFormed(_ text: String) -> Bool {
        guard (1...maximumBytes).contains(text.utf8.count) else { return false }
        let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let language = subtags.first, let last = subtags.last else { return false }
        let isLanguage = (2...longestSubtag).contains(language.count) && language.allSatisfy(isLetter)
        // Tags of private use and those that were registered before there was a grammar.
        let isOther = subtags.count > 1 && (isSingle(language, "x") || isSingle(language, "i"))
        // A single letter or digit begins an extension, which holds something; behind an x anything may stand.
        let isPrivate = isOther || subtags.dropLast().contains { isSingle($0, "x") }
        return (isLanguage || isOther) && (subtags.count == 1 || last.count > 1 || isPrivate)
            && subtags.dropFirst().allSatisfy { subtag in
                (1...longestSubtag).contains(subtag.count) && subtag.allSatisfy { isLetter($0) || isDigit($0) }
            }
    }

    private static func isSingle(_ subtag: Substring.UTF8View, _ letter: Unicode.Scalar) -> Bool {
        subtag.count == 1 && subtag.first.map { $0 | 0x20 } == UInt8(ascii: letter)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
