import Foundation

/// One kind of hostile input, for any size.
struct Shape: Sendable {
    /// Where in the input the text is, such as the name of a JSON member.
    let place: String
    /// What the text is made of.
    let name: String
    /// Makes an input of at most this many bytes.
    let bytes: @Sendable (Int) -> [UInt8]
}

/// A text that is costly for readers which normalise Unicode or search for characters.
struct HostileText: Sendable {
    let name: String
    /// Makes a text of at most this many bytes of UTF-8.
    let bytes: @Sendable (Int) -> [UInt8]

    /// U+0300 has the combining class 230, U+0316 the class 220: normalising moves each of one past each of the other.
    static let marksDescending = runs("marks-descending", "a", ["\u{300}", "\u{316}"])
    static let marksAscending = runs("marks-ascending", "a", ["\u{316}", "\u{300}"])
    static let marksAlternating = runs("marks-alternating", "a", ["\u{300}\u{316}"])
    /// What a text does to its reader does not depend on Unicode.
    static let letters = runs("letters", "", ["a"])
    static let digits = runs("digits", "", ["1"])

    static let all = [
        marksDescending, marksAscending, marksAlternating,
        // No run is longer than requests may have, so that every reader goes through the whole text.
        runs("marks-safe", "", ["a" + Shape.marks(15)]),
        runs("regional-indicators", "", ["\u{1F1E9}\u{1F1EA}"]),
        runs("emoji-zwj", "", ["\u{1F469}\u{200D}"]),
        runs("indic-conjuncts", "", ["\u{915}\u{94D}"]),
        runs("hangul-syllables", "", ["\u{1112}\u{1161}\u{11AB}"]),
        runs("hangul-runs", "", ["\u{1112}", "\u{1161}", "\u{11AB}"]),
        letters, digits,
        runs("spaces", "", [" "]),
    ]

    /// Equally long runs of patterns, one after the other.
    static func runs(_ name: String, _ start: String, _ patterns: [String]) -> HostileText {
        let start = Array(start.utf8)
        let patterns = patterns.map { Array($0.utf8) }
        return HostileText(name: name) { size in
            let each = max(0, size - start.count) / patterns.count
            return start + patterns.flatMap { repeated($0, upTo: each) }
        }
    }
}

/// A pattern as often as it fits.
func repeated(_ pattern: [UInt8], upTo size: Int) -> [UInt8] {
    let count = max(0, size) / pattern.count * pattern.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    // Doubled, so that the program under callgrind spends little on it.
    if count > 0 { bytes += pattern }
    while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
    return bytes
}

func repeated(_ pattern: String, upTo size: Int) -> [UInt8] { repeated(Array(pattern.utf8), upTo: size) }

extension Shape {
    /// Every text at one place of a template, whose `@` are the text: several share the size.
    static func texts(
        _ place: String, _ template: String, _ texts: [HostileText] = HostileText.all
    ) -> [Shape] {
        let parts = template.split(separator: "@", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let rest = parts.reduce(0) { $0 + $1.count }
        return texts.map { text in
            Shape(place: place, name: text.name) { size in
                let text = text.bytes((size - rest) / max(1, parts.count - 1))
                return Array(parts.joined(separator: text))
            }
        }
    }

    /// A template whose `@` is a pattern as often as it fits.
    static func pattern(_ place: String, _ name: String, _ template: String, _ pattern: String) -> Shape {
        texts(place, template, [HostileText.runs(name, "", [pattern])])[0]
    }

    /// Numbered items between a start and an end, whose `$` are six digits of the number.
    static func items(
        _ place: String, _ name: String, _ start: String, _ item: String, _ end: String, separator: String = ","
    ) -> Shape {
        let parts = item.split(separator: "$", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let (start, end, separator) = (Array(start.utf8), Array(end.utf8), Array(separator.utf8))
        return Shape(place: place, name: name) { size in
            let each = parts.reduce(0) { $0 + $1.count } + 6 * (parts.count - 1) + separator.count
            var bytes: [UInt8] = []
            bytes.reserveCapacity(size)
            bytes += start
            for number in 0..<max(0, (size - start.count - end.count) / each) {
                if number > 0 { bytes += separator }
                bytes += parts[0]
                for part in parts.dropFirst() {
                    var divisor = 100_000
                    while divisor > 0 {
                        bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                        divisor /= 10
                    }
                    bytes += part
                }
            }
            bytes += end
            return bytes
        }
    }

    /// The same within something that makes it longer by a factor, such as Base64.
    func wrapped(
        place: String? = nil, factor: (Int, Int) = (1, 1), overhead: Int = 0,
        _ wrap: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Shape {
        Shape(place: place ?? self.place, name: name) { size in
            wrap(bytes(max(0, size - overhead) * factor.0 / factor.1))
        }
    }
}

// MARK: JSON

extension Shape {
    /// A JSON object with a hostile name.
    static let jsonNames = texts("name", #"{"@":1}"#)

    /// A JSON object with hostile values of known members.
    static func jsonValues(_ names: [String], place: String = "value") -> [Shape] {
        texts(place, "{" + names.map { #""\#($0)":"@""# }.joined(separator: ",") + "}")
    }

    /// The same with a hostile name as well.
    static func jsonTexts(_ names: [String]) -> [Shape] {
        texts("name,value", #"{"@":1,"# + names.map { #""\#($0)":"@""# }.joined(separator: ",") + "}")
    }

    /// JSON objects of a hostile structure, all of them for the scanner on which the other readers of JSON are built.
    static let jsonStructures =
        [
            pattern("structure", "digits", #"{"n":@}"#, "1"),
            pattern("structure", "zeros", #"{"n":1@}"#, "0"),
            pattern("structure", "fraction-digits", #"{"n":0.@1}"#, "0"),
            pattern("structure", "exponent-digits", #"{"n":1e-@1}"#, "0"),
            pattern("structure", "nested-arrays", #"{"n":[@0]}"#, nested("[", "]") + ","),
            pattern("structure", "nested-objects", #"{"n":[@0]}"#, nested(#"{"a":"#, "}") + ","),
            pattern("structure", "too-deep", #"{"n":@"#, "["),
            pattern("structure", "elements", #"{"n":[@0]}"#, "0,"),
            pattern("structure", "empty-texts", #"{"n":[@0]}"#, #""","#),
            pattern("structure", "empty-objects", #"{"n":[@0]}"#, "{},"),
            pattern("structure", "white-space", "{@}", " \t\r\n"),
            pattern("value", "escaped-marks", #"{"n":"a@"}"#, #"\u0300"#),
            pattern("value", "escaped-pairs", #"{"n":"@"}"#, #"\ud83d\udc69"#),
            pattern("value", "escapes", #"{"n":"@"}"#, #"\\\"\n\/"#),
            pattern("structure", "one-name", #"{@"a":1}"#, #""a":1,"#),
        ] + jsonMembers + [escapedName]

    /// Those of the structures that have these names.
    static func structures(_ names: String...) -> [Shape] { jsonStructures.filter { names.contains($0.name) } }

    /// JSON objects of many members.
    private static let jsonMembers = [
        items("structure", "members", "{", #""k$":1"#, "}"),
        items("structure", "long-names", "{", #""\#(String(repeating: "a", count: 200))$":1"#, "}"),
        items("structure", "marked-names", "{", #""a\#(marks(15))$":1"#, "}"),
        items("structure", "escaped-names", "{", #""\u0300\u0316$":1"#, "}"),
        items("structure", "equal-names", "{", #""caf\u00e9$":1,"cafe\u0301$":1"#, "}"),
    ]

    /// A name of escaped marks in descending classes.
    private static let escapedName = texts(
        "name", #"{"@":1}"#, [HostileText.runs("escaped-name", "a", [#"\u0300"#, #"\u0316"#])])[0]

    /// Marks in descending classes, as many of each.
    static func marks(_ count: Int) -> String {
        String(String.UnicodeScalarView(repeatElement("\u{300}", count: count)))
            + String(String.UnicodeScalarView(repeatElement("\u{316}", count: count)))
    }

    /// As many levels as the readers of JSON take, with the levels around it.
    static func nested(_ open: String, _ close: String) -> String {
        String(repeating: open, count: 50) + "0" + String(repeating: close, count: 50)
    }
}

// MARK: Base64 and JWS

extension Shape {
    /// Base64url without padding (RFC 4648 section 5).
    static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
        Data(bytes).base64EncodedData().filter { $0 != UInt8(ascii: "=") }.map {
            switch $0 {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: $0
            }
        }
    }

    /// The shape as the header of a compact JWS, or as its payload below an ordinary header.
    func inJWS(asHeader: Bool) -> Shape {
        let header = Self.base64URL(Array(#"{"alg":"ES256","typ":"JWT","kid":"AB12CD34EF"}"#.utf8))
        let signature = Self.base64URL([UInt8](repeating: 1, count: 64))
        let place = (asHeader ? "header-" : "payload-") + place
        return wrapped(place: place, factor: (3, 4), overhead: 160) { content in
            let content = Self.base64URL(content)
            let parts =
                asHeader ? [content, Self.base64URL(Array("{}".utf8)), signature] : [header, content, signature]
            return Array(parts.joined(separator: [UInt8(ascii: ".")]))
        }
    }

    /// Base64 of many forms.
    static let base64: [Shape] = [
        pattern("whole", "padding", "@", "="),
        pattern("whole", "line-breaks", "@", "QUJD\n"),
        pattern("whole", "blanks", "@", "QUJD "),
        pattern("whole", "digits", "@", "QUJD"),
    ]
}
