import Foundation
import JSON

/// Turns what routes answer in JSON into messages.
///
/// Null and what is left out are the same: a field that is not there. A member that the contract does not know goes where a
/// message keeps such members, which Apple's payloads do, and else is ``lost``; a test holds that no answer of ours has one.
struct MessageWriter: Sendable {
    let contract: ProtoContract
    /// What has found no place in a message, in words.
    private(set) var lost: [String] = []

    init(_ contract: ProtoContract) { self.contract = contract }

    /// The message that an object stands for.
    mutating func bytes(of object: JSONMembers, as message: Int) -> [UInt8] {
        var writer = WireWriter(capacity: object.rawBytes.count)
        write(object, as: message, to: &writer)
        return writer.bytes
    }

    private mutating func write(_ object: JSONMembers, as message: Int, to writer: inout WireWriter) {
        let type = contract.messages[message]
        if type.wellKnown == .object { return WellKnownWriter.write(object: object, to: &writer) }
        for (name, value) in object where !value.isNull {
            if let place = type.place(ofMember: name), write(value, type.fields[place], to: &writer) { continue }
            keep(name, value, type, to: &writer)
        }
    }

    /// Keeps a member that is none of the message's, or of another type than it should be.
    private mutating func keep(
        _ name: UntrustedText, _ value: JSONSlice, _ type: ProtoMessage, to writer: inout WireWriter
    ) {
        guard let additional = type.additional else {
            return lost.append("`\(name.shortened)` is no field of \(type.fullName), or has a value of another type")
        }
        writer.field(type.fields[additional].number) { entry in
            entry.field(WellKnownNumber.key, text: name)
            entry.field(WellKnownNumber.value, bytes: value.rawBytes)
        }
    }

    /// Writes a field; false when the value is of no type that it could have.
    private mutating func write(_ value: JSONSlice, _ field: ProtoField, to writer: inout WireWriter) -> Bool {
        if case .message(let inner) = field.kind, contract.messages[inner].isMapEntry {
            guard let object = value.object else { return false }
            let fields = contract.messages[inner].fields
            for (key, value) in object {
                writer.field(field.number) { entry in
                    entry.field(fields[0].number, text: key)
                    _ = writeOne(value, fields[1], isInList: false, to: &entry)
                }
            }
            return true
        }
        guard field.isRepeated else { return writeOne(value, field, isInList: false, to: &writer) }
        guard let elements = value.array else { return false }
        return write(elements, field, to: &writer)
    }

    private mutating func write(_ elements: [JSONSlice], _ field: ProtoField, to writer: inout WireWriter) -> Bool {
        guard !elements.isEmpty else { return true }
        switch field.kind {
        case .boolean, .int32, .int64, .double, .enumeration:
            var packed = WireWriter()
            for element in elements {
                guard let scalar = scalar(element, field.kind) else { return false }
                switch scalar {
                case .varint(let number): packed.varint(number)
                case .fixed64(let bits): packed.fixed64(bits)
                }
            }
            writer.field(field.number, bytes: packed.bytes)
            return true
        case .text, .bytes, .message, .other:
            for element in elements where !writeOne(element, field, isInList: true, to: &writer) { return false }
            return true
        }
    }

    private enum Scalar {
        case varint(UInt64)
        case fixed64(UInt64)
    }

    private mutating func scalar(_ value: JSONSlice, _ kind: ProtoField.Kind) -> Scalar? {
        switch kind {
        case .boolean: value.bool.map { .varint($0 ? 1 : 0) }
        case .int64: value.int64.map { .varint(UInt64(bitPattern: $0)) }
        case .int32: value.int64.flatMap { Int32(exactly: $0) }.map { .varint(UInt64(bitPattern: Int64($0))) }
        case .double: value.double.map { .fixed64($0.bitPattern) }
        case .enumeration(let place):
            value.string.map { .varint(UInt64(UInt32(bitPattern: number(of: $0, in: contract.enums[place])))) }
        case .text, .bytes, .message, .other: nil
        }
    }

    private mutating func number(of text: UntrustedText, in values: ProtoEnum) -> Int32 {
        if let number = values.number(of: text) { return number }
        lost.append("`\(text.shortened)` is no value of \(values.fullName)")
        return 0
    }

    /// Writes one value; what is false, zero or empty only where that can be told from nothing.
    private mutating func writeOne(
        _ value: JSONSlice, _ field: ProtoField, isInList: Bool, to writer: inout WireWriter
    ) -> Bool {
        let writesEmpty = field.hasPresence || isInList
        switch field.kind {
        case .boolean, .int32, .int64, .double, .enumeration:
            guard let scalar = scalar(value, field.kind) else { return false }
            switch scalar {
            case .varint(let number): if number != 0 || writesEmpty { writer.field(field.number, varint: number) }
            case .fixed64(let bits):
                if bits != 0 || writesEmpty { writer.field(field.number, double: Double(bitPattern: bits)) }
            }
        case .text where field.isJSONText: writer.field(field.number, bytes: value.rawBytes)
        case .text:
            guard let text = value.string else { return false }
            if !text.utf8.isEmpty || writesEmpty { writer.field(field.number, text: text) }
        case .bytes:
            guard let text = value.string,
                let data = Data(base64Encoded: Data(text.utf8), options: .ignoreUnknownCharacters)
            else {
                return false
            }
            if !data.isEmpty || writesEmpty { writer.field(field.number, bytes: data) }
        case .message(let message): return write(value, message: message, field.number, to: &writer)
        case .other: return false
        }
        return true
    }

    private mutating func write(_ value: JSONSlice, message: Int, _ number: Int, to writer: inout WireWriter) -> Bool {
        let type = contract.messages[message]
        if type.wellKnown == .timestamp {
            guard let text = value.string?.streamSafe, let (seconds, nanoseconds) = TimestampText.parse(text) else {
                return false
            }
            writer.field(number) { WellKnownWriter.write(seconds: seconds, nanoseconds: nanoseconds, to: &$0) }
            return true
        }
        if type.isList {
            guard let elements = value.array else { return false }
            var inner = WireWriter()
            guard write(elements, type.fields[0], to: &inner) else { return false }
            writer.field(number, bytes: inner.bytes)
            return true
        }
        guard let object = value.object else { return false }
        writer.field(number) { write(object, as: message, to: &$0) }
        return true
    }
}
