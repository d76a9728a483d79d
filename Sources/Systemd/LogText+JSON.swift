import Logging

extension LogText {
    /// The bytes of the longest escape, `\u001b`.
    private static let longestEscape = 6

    /// Appends a JSON string, its content cut and marked so that it takes no more than `limit` bytes.
    ///
    /// - Returns: whether the text is there whole.
    @discardableResult
    static func appendJSON(_ text: String, to line: inout [UInt8], limit: Int) -> Bool {
        let end = line.count + limit - LineWriter.cutMarker.utf8.count - longestEscape
        var isWhole = true
        line.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            guard line.count <= end else {
                line += LineWriter.cutMarker.utf8
                isWhole = false
                break
            }
            appendEscaped(scalar, to: &line)
        }
        line.append(UInt8(ascii: "\""))
        return isWhole
    }

    /// Appends a metadata value: text as a string, arrays and dictionaries as such.
    static func appendJSON(_ value: Logger.MetadataValue, to line: inout [UInt8]) {
        switch value {
        case .string(let text): appendJSON(text, to: &line, limit: LineWriter.maximumLineBytes)
        case .stringConvertible(let object):
            appendJSON(object.description, to: &line, limit: LineWriter.maximumLineBytes)
        case .array(let values):
            line.append(UInt8(ascii: "["))
            for (index, element) in values.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                appendJSON(element, to: &line)
            }
            line.append(UInt8(ascii: "]"))
        case .dictionary(let members):
            line.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                appendJSON(member.key, to: &line, limit: LineWriter.maximumLineBytes)
                line.append(UInt8(ascii: ":"))
                appendJSON(member.value, to: &line)
            }
            line.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a scalar as it stands in a JSON string.
    ///
    /// Source: RFC 8259 section 7
    private static func appendEscaped(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"": line += #"\""#.utf8
        case "\\": line += #"\\"#.utf8
        case "\n": line += #"\n"#.utf8
        case "\r": line += #"\r"#.utf8
        case "\t": line += #"\t"#.utf8
        case "\u{0}"..."\u{1f}", "\u{7f}":
            let digits = String(scalar.value, radix: 16)
            line += "\\u".utf8
            line += repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count)
            line += digits.utf8
        default: line += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }
}
