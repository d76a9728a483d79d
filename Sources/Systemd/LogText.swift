import Foundation
import Logging

/// The texts of the log formats.
enum LogText {
    /// Appends text, cut at a character boundary and marked when it would take more than `limit` bytes.
    static func append(_ text: String, to line: inout [UInt8], limit: Int) {
        guard text.utf8.count > limit else {
            line += text.utf8
            return
        }
        var room = limit - LineWriter.cutMarker.utf8.count
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            line += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
        line += LineWriter.cutMarker.utf8
    }

    /// A metadata value as text: strings as they are, arrays and dictionaries as JSON.
    static func plain(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): return text
        case .stringConvertible(let object): return object.description
        case .array, .dictionary:
            var json: [UInt8] = []
            appendJSON(value, to: &json)
            return String(decoding: json, as: UTF8.self)
        }
    }

    /// What happened and to what, on one line for people: the message, then each piece of metadata as `key=value`.
    static func line(_ message: String, _ metadata: [(key: String, value: Logger.MetadataValue)]) -> String {
        metadata.reduce(into: visible(message)) { line, member in
            line += "  \(visible(member.key))=\(visible(plain(member.value)))"
        }
    }

    /// Text without the control characters that could end the line or command a terminal.
    static func visible(_ text: String) -> String {
        // More than that is cut from the line anyway.
        let text = text.unicodeScalars.prefix(LineWriter.maximumLineBytes + 1)
        guard text.contains(where: isControl) else { return String(text) }
        return text.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }

    /// Appends the time of day, UTC, to the millisecond: `12:34:56.789`.
    static func appendTimeOfDay(_ date: Date, to line: inout [UInt8]) {
        var time: [UInt8] = []
        appendTime(date, to: &time)
        line += time.dropFirst("yyyy-MM-ddT".utf8.count).dropLast()
    }

    /// Appends a time as RFC 3339 has it, UTC, to the millisecond: `2025-01-31T12:34:56.789Z`.
    static func appendTime(_ date: Date, to line: inout [UInt8]) {
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        // It fails only for years that do not fit an Int32; the line is worth more than its time then.
        guard gmtime_r(&seconds, &parts) != nil else { return }
        appendNumber(Int(parts.tm_year) + 1900, digits: 4, to: &line)
        for (separator, number) in [("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour)]
            + [(":", parts.tm_min), (":", parts.tm_sec)]
        {
            line += separator.utf8
            appendNumber(Int(number), digits: 2, to: &line)
        }
        line.append(UInt8(ascii: "."))
        appendNumber(Int(milliseconds % 1000), digits: 3, to: &line)
        line.append(UInt8(ascii: "Z"))
    }

    private static func appendNumber(_ number: Int, digits: Int, to line: inout [UInt8]) {
        let text = String(number)
        line += repeatElement(UInt8(ascii: "0"), count: max(0, digits - text.utf8.count))
        line += text.utf8
    }

    // MARK: JSON

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

    /// Appends a metadata value: text as a string; numbers, truth values, arrays and dictionaries as such.
    static func appendJSON(_ value: Logger.MetadataValue, to line: inout [UInt8]) {
        switch value {
        case .string(let text): appendJSON(text, to: &line, limit: LineWriter.maximumLineBytes)
        case .stringConvertible(let object):
            if let number = number(object) {
                line += number.utf8
            } else {
                appendJSON(object.description, to: &line, limit: LineWriter.maximumLineBytes)
            }
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

    /// A number or truth value as JSON has it; nil for anything else, and for what is not finite.
    private static func number(_ object: any CustomStringConvertible) -> String? {
        switch object {
        case let integer as any BinaryInteger: integer.description
        case let number as Double: number.isFinite ? number.description : nil
        case let truth as Bool: truth.description
        default: nil
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

extension LogEvent {
    /// The metadata of the handler, its provider, this event and its error, in the order of their keys.
    ///
    /// Of two values for one key the later in this list of sources counts, as swift-log's own handler does it.
    func allMetadata(of handler: some LogHandler) -> [(key: String, value: Logger.MetadataValue)] {
        var all = handler.metadata
        if let provided = handler.metadataProvider?.get() { all.merge(provided) { $1 } }
        if let metadata { all.merge(metadata) { $1 } }
        if let error { all["error"] = "\(error)" }
        return all.sorted { $0.key < $1.key }
    }
}
