import Foundation
import JSON

/// Turns messages into the JSON that routes take.
///
/// Stricter than Protocol Buffers ask: a field that nobody knows is a fault, as an unknown member of a body is to the same route,
/// since whoever sent it would think that it is heeded.
struct MessageReader {
    /// Why a message is no request.
    struct Fault: Equatable {
        /// Where, by the names of JSON.
        let field: String
        let rule: String
        let message: String
    }

    /// How deep messages may lie in each other.
    static let maximumDepth = 64
    /// The most faults that are reported.
    static let maximumFaults = 32
    /// The most values of a message, those of messages within it included.
    static let maximumValues = 32_768

    let contract: ProtoContract
    private(set) var faults: [Fault] = []
    private var valuesLeft = maximumValues

    init(_ contract: ProtoContract) { self.contract = contract }

    mutating func note(_ field: String, _ rule: String, _ message: String) {
        if faults.count < Self.maximumFaults { faults.append(Fault(field: field, rule: rule, message: message)) }
    }

    /// Reads a whole message; nil when the bytes are none.
    mutating func parse(_ bytes: [UInt8], _ message: Int) -> ParsedMessage? {
        guard let parsed = try? parsed(bytes, nil, message) else {
            note(
                "", "encoding",
                "The message is not in the wire format of \(contract.messages[message].fullName), "
                    + "or has more than \(Self.maximumValues) values.")
            return nil
        }
        return parsed
    }

    /// Sorts the fields of one message, and counts its values.
    private mutating func parsed(
        _ bytes: [UInt8], _ range: Range<Int>?, _ message: Int
    ) throws(WireReader.Malformed) -> ParsedMessage {
        let parsed = try ParsedMessage(bytes, range, contract.messages[message], atMost: valuesLeft)
        valuesLeft -= parsed.count
        return parsed
    }

    // MARK: Values

    /// The values of a field, one at most where it is not repeated.
    mutating func elements(of field: ProtoField, at place: Int, in parsed: ParsedMessage, _ path: String) -> [Element] {
        let values = parsed.values[place]
        guard !values.isEmpty else { return [] }
        do throws(WireReader.Malformed) {
            if case .message(let message) = field.kind {
                return try messages(values, parsed, message, field.isRepeated)
            }
            if field.isRepeated {
                var elements: [Element] = []
                for value in values {
                    for value in try Self.unpacked(value, field.kind, parsed.bytes) {
                        elements.append(try element(value, field.kind, parsed.bytes))
                    }
                }
                return elements
            }
            // The last one counts.
            return try values.last.map { value throws(WireReader.Malformed) in
                [try element(value, field.kind, parsed.bytes)]
            } ?? []
        } catch {
            note(
                path, "encoding",
                "`\(path)` is not in the wire format of its type, is not valid UTF-8, or has too many values.")
            return []
        }
    }

    private mutating func messages(
        _ values: [WireReader.Value], _ parsed: ParsedMessage, _ message: Int, _ isRepeated: Bool
    ) throws(WireReader.Malformed) -> [Element] {
        var ranges: [Range<Int>] = []
        for value in values {
            guard case .bytes(let range) = value else { throw WireReader.Malformed() }
            ranges.append(range)
        }
        if !isRepeated, ranges.count > 1 {
            // What comes in parts is one message: its bytes behind each other are the message that the parts make.
            let merged = Array(ranges.map { parsed.bytes[$0] }.joined())
            return [.message(message, try self.parsed(merged, nil, message))]
        }
        var elements: [Element] = []
        for range in ranges {
            elements.append(.message(message, try self.parsed(parsed.bytes, range, message)))
        }
        return elements
    }

    /// The values of numbers that were written behind each other.
    private static func unpacked(
        _ value: WireReader.Value, _ kind: ProtoField.Kind, _ bytes: [UInt8]
    ) throws(WireReader.Malformed) -> [WireReader.Value] {
        guard case .bytes(let range) = value else { return [value] }
        var reader = WireReader(bytes, in: range)
        var values: [WireReader.Value] = []
        switch kind {
        case .boolean, .int32, .int64, .enumeration:
            while !reader.isAtEnd { values.append(.varint(try reader.varint())) }
        case .double: while !reader.isAtEnd { values.append(.fixed64(try reader.fixed(8))) }
        case .text, .bytes, .message, .other: return [value]
        }
        return values
    }

    private func element(
        _ value: WireReader.Value, _ kind: ProtoField.Kind, _ bytes: [UInt8]
    ) throws(WireReader.Malformed) -> Element {
        switch (kind, value) {
        case (.boolean, .varint(let number)): return .boolean(number != 0)
        case (.int32, .varint(let number)): return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case (.int64, .varint(let number)): return .integer(Int64(bitPattern: number))
        case (.double, .fixed64(let bits)): return .double(Double(bitPattern: bits))
        case (.bytes, .bytes(let range)): return .bytes(bytes[range])
        case (.text, .bytes(let range)):
            guard let text = UntrustedText(validating: bytes[range]) else { throw WireReader.Malformed() }
            return .text(text)
        case (.enumeration(let place), .varint(let number)):
            let number = Int32(truncatingIfNeeded: number)
            // A number that nothing has becomes a text that nothing has: the route says so.
            return .enumeration(number == 0 ? "" : contract.enums[place].text(of: number) ?? String(number))
        default: throw WireReader.Malformed()
        }
    }

    // MARK: JSON

    /// Writes a message as the value of JSON that it stands for.
    mutating func write(
        _ parsed: ParsedMessage, _ message: Int, to writer: inout JSONWriter, at path: String = "", depth: Int = 1
    ) {
        let type = contract.messages[message]
        guard depth <= Self.maximumDepth else {
            note(path, "depth", "More than \(Self.maximumDepth) messages lie in each other.")
            return writer.null()
        }
        switch type.wellKnown {
        case .timestamp: writer.value(timestamp(parsed, type, at: path) ?? "")
        case .object: WellKnownReader(contract).write(object: parsed, type, to: &writer, &self, path, depth)
        case nil where type.isList:
            let elements = elements(of: type.fields[0], at: 0, in: parsed, path)
            writer.beginArray()
            for element in elements { write(element, type.fields[0], to: &writer, path, depth) }
            writer.endArray()
        case nil:
            writer.beginObject()
            for place in type.fields.indices where type.fields[place].place == .body {
                writeMember(place, of: parsed, type, to: &writer, at: path, depth)
            }
            writer.endObject()
        }
        noteUnknown(parsed, at: path)
    }

    /// Notes what came that nobody knows.
    mutating func noteUnknown(_ parsed: ParsedMessage, at path: String) {
        for number in parsed.unknown.prefix(Self.maximumFaults) {
            let field = path.isEmpty ? "#\(number)" : "\(path).#\(number)"
            note(field, "unknown", "There is no field with the number \(number).")
        }
    }

    /// Writes a field as a member, if it is there.
    mutating func writeMember(
        _ place: Int, of parsed: ParsedMessage, _ type: ProtoMessage, to writer: inout JSONWriter, at path: String,
        _ depth: Int
    ) {
        let field = type.fields[place]
        let path = path.isEmpty ? field.jsonName : "\(path).\(field.jsonName)"
        let elements = elements(of: field, at: place, in: parsed, path)
        if case .message(let inner) = field.kind, contract.messages[inner].isMapEntry {
            return writeMap(elements, field, contract.messages[inner], to: &writer, path, depth)
        }
        if field.isRepeated {
            guard !elements.isEmpty else { return }
            writer.name(field.jsonName)
            writer.beginArray()
            for element in elements { write(element, field, to: &writer, path, depth) }
            writer.endArray()
        } else if let element = elements.last {
            // Said to be nothing in particular, it is left out.
            if case .enumeration("") = element { return }
            writer.name(field.jsonName)
            write(element, field, to: &writer, path, depth)
        } else if !field.hasPresence {
            writeDefault(field, to: &writer)
        }
    }

    /// What is not on the wire is false, zero or empty, unless it could be told from that.
    private func writeDefault(_ field: ProtoField, to writer: inout JSONWriter) {
        switch field.kind {
        case .boolean: writer.member(field.jsonName, false)
        case .int32, .int64, .double: writer.member(field.jsonName, 0)
        case .text, .bytes: writer.member(field.jsonName, "")
        case .enumeration, .message, .other: break
        }
    }

    private mutating func writeMap(
        _ entries: [Element], _ field: ProtoField, _ type: ProtoMessage, to writer: inout JSONWriter, _ path: String,
        _ depth: Int
    ) {
        guard !entries.isEmpty else { return }
        if !field.isAdditional {
            writer.name(field.jsonName)
            writer.beginObject()
        }
        var keys: [UntrustedText: ParsedMessage] = [:]
        var order: [UntrustedText] = []
        for case .message(_, let entry) in entries {
            guard case .text(let key)? = elements(of: type.fields[0], at: 0, in: entry, path).last ?? .text("") else {
                continue
            }
            if keys.updateValue(entry, forKey: key) == nil { order.append(key) }
        }
        for key in order {
            guard let entry = keys[key] else { continue }
            let path = "\(path).\(key.shortened)"
            let value = elements(of: type.fields[1], at: 1, in: entry, path).last
            if field.isAdditional {
                guard case .text(let json)? = value, (try? JSONValue(parsing: Array(json.utf8))) != nil else {
                    note(path, "json", "`\(path)` is not JSON.")
                    continue
                }
                writer.memberRaw(key, json.utf8)
            } else if let value {
                writer.name(key)
                write(value, type.fields[1], to: &writer, path, depth)
            } else {
                writeDefault(type.fields[1].named(key.streamSafe), to: &writer)
            }
        }
        if !field.isAdditional { writer.endObject() }
    }

    /// Writes one value.
    mutating func write(
        _ element: Element, _ field: ProtoField, to writer: inout JSONWriter, _ path: String, _ depth: Int
    ) {
        switch element {
        case .boolean(let value): writer.value(value)
        case .integer(let value): writer.value(value)
        case .double(let value) where Int64(exactly: value) != nil: writer.value(Int64(value))
        case .double(let value):
            guard let number = JSONNumber(value) else {
                note(path, "range", "`\(path)` is not a finite number.")
                return writer.null()
            }
            writer.value(number)
        case .text(let text) where field.isJSONText:
            guard (try? JSONScanner.members(of: Array(text.utf8))) != nil else {
                note(path, "json", "`\(path)` is not a JSON object.")
                return writer.null()
            }
            writer.raw(text.utf8)
        case .text(let text): writer.value(text)
        case .enumeration(let text): writer.value(text)
        case .bytes(let bytes): writer.value(Data(bytes).base64EncodedString())
        case .message(let message, let parsed): write(parsed, message, to: &writer, at: path, depth: depth + 1)
        }
    }

    /// The text of a value in a path, a query or a header field.
    mutating func text(_ element: Element, at path: String) -> UntrustedText {
        switch element {
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): UntrustedText(String(value))
        case .double(let value): UntrustedText(String(value))
        case .text(let text): text
        case .enumeration(let text): UntrustedText(text)
        case .bytes(let bytes): UntrustedText(Data(bytes).base64EncodedString())
        case .message(let message, let parsed):
            UntrustedText(timestamp(parsed, contract.messages[message], at: path) ?? "")
        }
    }

    /// A time in RFC 3339; nil, and a fault, for one that is none.
    private mutating func timestamp(_ parsed: ParsedMessage, _ type: ProtoMessage, at path: String) -> String? {
        var parts: [Int64] = [0, 0]
        for (index, field) in type.fields.prefix(2).enumerated() {
            if case .integer(let value)? = elements(of: field, at: index, in: parsed, path).last {
                parts[index] = value
            }
        }
        guard let text = TimestampText.text(seconds: parts[0], nanoseconds: parts[1]) else {
            note(path, "format", "`\(path)` is not a time from the year 1 to 9999.")
            return nil
        }
        return text
    }
}

extension ProtoField {
    /// The same under another name.
    fileprivate func named(_ name: String) -> ProtoField {
        ProtoField(
            name: name, jsonName: name, number: number, kind: kind, isRepeated: isRepeated, hasPresence: hasPresence,
            place: place, isAdditional: isAdditional, isJSONText: isJSONText)
    }
}
