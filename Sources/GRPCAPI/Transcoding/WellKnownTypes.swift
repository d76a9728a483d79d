import JSON

/// The numbers of the fields of `google.protobuf.Timestamp`, `Struct`, `Value` and `ListValue`.
enum WellKnownNumber {
    static let seconds = 1
    static let nanoseconds = 2
    static let fields = 1
    static let key = 1
    static let value = 2
    static let null = 1
    static let number = 2
    static let string = 3
    static let bool = 4
    static let object = 5
    static let list = 6
    static let values = 1
}

/// Reads `google.protobuf.Struct`, which holds any JSON object.
struct WellKnownReader {
    private let contract: ProtoContract

    init(_ contract: ProtoContract) { self.contract = contract }

    /// Writes the object.
    ///
    /// `reader`: notes what is wrong.
    func write(
        object parsed: ParsedMessage, _ type: ProtoMessage, to writer: inout JSONWriter, _ reader: inout MessageReader,
        _ path: String, _ depth: Int
    ) {
        writer.beginObject()
        var written: Set<UntrustedText> = []
        for case .message(let message, let entry) in reader.elements(of: type.fields[0], at: 0, in: parsed, path) {
            let fields = contract.messages[message].fields
            guard case .text(let key)? = reader.elements(of: fields[0], at: 0, in: entry, path).last ?? .text(""),
                written.insert(key).inserted
            else { continue }
            writer.name(key)
            if case .message(let message, let value)? = reader.elements(of: fields[1], at: 1, in: entry, path).last {
                write(value: value, message, to: &writer, &reader, "\(path).\(key.shortened)", depth + 1)
            } else {
                writer.null()
            }
        }
        writer.endObject()
    }

    private func write(
        value parsed: ParsedMessage, _ message: Int, to writer: inout JSONWriter, _ reader: inout MessageReader,
        _ path: String, _ depth: Int
    ) {
        guard depth <= MessageReader.maximumDepth else {
            reader.note(path, "depth", "More than \(MessageReader.maximumDepth) messages lie in each other.")
            return writer.null()
        }
        let type = contract.messages[message]
        let given = type.fields.indices.first { !parsed.values[$0].isEmpty }
        guard let given, let element = reader.elements(of: type.fields[given], at: given, in: parsed, path).last else {
            return writer.null()
        }
        switch (type.fields[given].number, element) {
        case (WellKnownNumber.null, _): writer.null()
        case (WellKnownNumber.object, .message(let message, let inner)):
            write(object: inner, contract.messages[message], to: &writer, &reader, path, depth + 1)
        case (WellKnownNumber.list, .message(let message, let inner)):
            writer.beginArray()
            let field = contract.messages[message].fields[0]
            for case .message(let message, let value) in reader.elements(of: field, at: 0, in: inner, path) {
                write(value: value, message, to: &writer, &reader, path, depth + 1)
            }
            writer.endArray()
        default: reader.write(element, type.fields[given], to: &writer, path, depth)
        }
    }
}

/// Writes `google.protobuf.Struct` and `Value`.
enum WellKnownWriter {
    static func write(object: JSONMembers, to writer: inout WireWriter) {
        for (key, value) in object {
            writer.field(WellKnownNumber.fields) { entry in
                entry.field(WellKnownNumber.key, text: key)
                entry.field(WellKnownNumber.value) { write(value, to: &$0) }
            }
        }
    }

    private static func write(_ value: JSONSlice, to writer: inout WireWriter) {
        switch value.kind {
        case .null: writer.field(WellKnownNumber.null, varint: 0)
        case .bool: writer.field(WellKnownNumber.bool, varint: value.bool == true ? 1 : 0)
        case .number: writer.field(WellKnownNumber.number, double: value.double ?? 0)
        case .string: writer.field(WellKnownNumber.string, text: value.string ?? "")
        case .object:
            writer.field(WellKnownNumber.object) { writer in
                if let object = value.object { write(object: object, to: &writer) }
            }
        case .array:
            writer.field(WellKnownNumber.list) { writer in
                for element in value.array ?? [] {
                    writer.field(WellKnownNumber.values) { write(element, to: &$0) }
                }
            }
        }
    }

    /// Writes a `google.protobuf.Timestamp`.
    static func write(seconds: Int64, nanoseconds: Int64, to writer: inout WireWriter) {
        if seconds != 0 { writer.field(WellKnownNumber.seconds, int64: seconds) }
        if nanoseconds != 0 { writer.field(WellKnownNumber.nanoseconds, int64: nanoseconds) }
    }
}
