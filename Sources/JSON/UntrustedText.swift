/// Text that comes from outside and whose cost is not known yet.
///
/// Swift's `String` hashes and compares after Unicode normalisation, which sorts each run of non-starters (combining marks):
/// its time grows with the square of the run. So text from a request, a file or Apple is hashed and compared here by its
/// UTF-8 bytes, and becomes a `String` in two ways only, both linear: ``checked`` rejects what no real text contains,
/// ``streamSafe`` breaks up such runs. In a `String` made by either, a run has at most ``maximumNonStarters`` members.
///
/// Source: UAX #15 section 13, "Stream-Safe Text Format"
package struct UntrustedText: Sendable {
    /// The most consecutive non-starters of stream-safe text.
    package static let maximumNonStarters = 30

    /// What is wrong with text that ``checked`` rejects, after the name of what contains it.
    package static let longRunFault = "it has more than \(maximumNonStarters) combining characters in a row"

    /// Never hashed, compared or walked by `Character` in here.
    private let text: String

    /// Text in UTF-8; invalid sequences become U+FFFD.
    package init(decoding bytes: some Collection<UInt8>) { text = String(decoding: bytes, as: UTF8.self) }

    /// Text in UTF-8; nil if the bytes are not valid.
    package init?(validating bytes: some Collection<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.text = text
    }

    /// Text whose bytes are ours, or come from a library that returns a `String`.
    package init(_ text: String) { self.text = text }

    package var utf8: String.UTF8View { text.utf8 }

    /// The text for ``JSONWriter``, which copies its bytes.
    var written: String { text }

    /// The text; nil if it contains more than ``maximumNonStarters`` consecutive non-starters.
    ///
    /// For readers of requests, which reject such text.
    package var checked: String? { firstLongRun == nil ? text : nil }

    /// The text with U+034F (combining grapheme joiner) after every ``maximumNonStarters`` consecutive non-starters.
    ///
    /// For what is never rejected: data that Apple signed, and Apple's responses. Text without such a run is unchanged.
    ///
    /// Source: UAX #15 section 13, "Stream-Safe Text Process"
    package var streamSafe: String {
        guard let start = firstLongRun else { return text }
        let joiner = "\u{034F}".utf8
        let scalars = text.unicodeScalars
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 16)
        // Behind the first joiner a run of one begins.
        var (index, copied, run) = (start, scalars.startIndex, Self.maximumNonStarters)
        while index < scalars.endIndex {
            run = Self.isNonStarter(scalars[index]) ? run + 1 : 0
            if run > Self.maximumNonStarters {
                bytes += text.utf8[copied..<index]
                bytes += joiner
                (copied, run) = (index, 1)
            }
            index = scalars.index(after: index)
        }
        bytes += text.utf8[copied...]
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without what follows its first `count` bytes, cut between two scalars.
    package func prefix(bytes count: Int) -> UntrustedText {
        let utf8 = text.utf8
        guard let cut = utf8.index(utf8.startIndex, offsetBy: count, limitedBy: utf8.endIndex) else { return self }
        var end = cut
        while end > utf8.startIndex, end < utf8.endIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return UntrustedText(String(text.unicodeScalars[..<end]))
    }

    /// The first 128 bytes, stream-safe: enough to name a member in an error.
    package var shortened: String { prefix(bytes: 128).streamSafe }

    /// The place of the first non-starter that is one too many.
    private var firstLongRun: String.Index? {
        guard mayContainNonStarters else { return nil }
        var run = 0
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            run = Self.isNonStarter(scalars[index]) ? run + 1 : 0
            if run > Self.maximumNonStarters { return index }
            index = scalars.index(after: index)
        }
        return nil
    }

    /// Whether any byte can begin a non-starter; nearly all text is ASCII, which is read eight bytes at a time.
    private var mayContainNonStarters: Bool {
        var text = text
        return text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            var index = 0
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 != 0, bytes[index..<(index + 8)].contains(where: Self.mayBegin) {
                    return true
                }
                index += 8
            }
            return bytes[index...].contains(where: Self.mayBegin)
        }
    }

    /// The first non-starter is U+0300, whose first byte is 0xCC.
    private static func mayBegin(nonStarter byte: UInt8) -> Bool { byte >= 0xCC }

    private static func isNonStarter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }
}

/// By bytes: canonically equivalent text of other bytes is other text.
extension UntrustedText: Hashable {
    package static func == (left: UntrustedText, right: UntrustedText) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // So that the hashes of a sequence of texts depend on where each ends.
        hasher.combine(0xFF as UInt8)
    }
}

/// Names and values of ours, to compare with.
extension UntrustedText: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { text = value }
}

/// By bytes; what ``JSONWriter`` orders members by.
extension UntrustedText: Comparable {
    package static func < (left: UntrustedText, right: UntrustedText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension UntrustedText: CustomStringConvertible {
    /// At most 64 bytes of the text, each character outside printable ASCII escaped: harmless in a log line or an error.
    package var description: String {
        var shown = ""
        let cut = prefix(bytes: 64)
        for scalar in cut.text.unicodeScalars {
            switch scalar {
            case "\"", "\\": shown.unicodeScalars.append(contentsOf: ["\\", scalar])
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            case " "..."~": shown.unicodeScalars.append(scalar)
            default: shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return "\"\(shown)\(cut.utf8.count < utf8.count ? "…" : "")\""
    }
}
