/// Reads descriptors, which are messages themselves.
///
/// Source: google/protobuf/descriptor.proto, whose numbers stand in ``DescriptorNumber``; ours are in
/// `api/purser/v1/annotations.proto`.
struct DescriptorReader {
    /// A field whose type is known by its name only, as what it names may follow.
    private struct NamedField {
        var name = ""
        var jsonName = ""
        var number = 0
        var type: UInt64 = 0
        var typeName = ""
        var isRepeated = false
        var isOptional = false
        var place = ProtoField.Place.body
        var isAdditional = false
        var isJSONText = false
    }

    private struct NamedMessage {
        var fullName = ""
        var fields: [NamedField] = []
        var isMapEntry = false
        var isList = false
    }

    private struct NamedMethod {
        var service = ""
        var name = ""
        var input = ""
        var output = ""
        var streamsAnswers = false
        var route: ProtoMethod.Route?
    }

    /// What a file declares besides what is transcoded.
    private struct Declared {
        var symbols: [String] = []
        var extensions: [(message: String, number: Int)] = []
    }

    private var messages: [NamedMessage] = []
    private var enums: [ProtoEnum] = []
    private var methods: [NamedMethod] = []
    private var declared = Declared()
    private(set) var files: [ProtoFile] = []

    mutating func read(set bytes: [UInt8]) throws(WireReader.Malformed) {
        for (number, value) in try Self.fields(bytes, nil) where number == DescriptorNumber.Set.file {
            if case .bytes(let range) = value { try read(file: bytes, range) }
        }
    }

    /// Everything, with names resolved.
    func linked() throws(WireReader.Malformed) -> ([ProtoMessage], [ProtoEnum], [ProtoMethod]) {
        let places = Dictionary(messages.enumerated().map { ($1.fullName, $0) }) { first, _ in first }
        let enumPlaces = Dictionary(enums.enumerated().map { ($1.fullName, $0) }) { first, _ in first }
        var linkedMessages: [ProtoMessage] = []
        for message in messages {
            var fields: [ProtoField] = []
            for field in message.fields { fields.append(try Self.link(field, places, enumPlaces)) }
            linkedMessages.append(
                ProtoMessage(
                    fullName: message.fullName, fields: fields, isMapEntry: message.isMapEntry, isList: message.isList))
        }
        var linkedMethods: [ProtoMethod] = []
        for method in methods {
            // Those of Google's services are served by hand.
            guard let route = method.route else { continue }
            guard let input = places[method.input], let output = places[method.output] else {
                throw WireReader.Malformed()
            }
            linkedMethods.append(
                ProtoMethod(
                    service: method.service, name: method.name, input: input, output: output,
                    streamsAnswers: method.streamsAnswers, route: route))
        }
        return (linkedMessages, enums, linkedMethods)
    }

    private static func link(
        _ field: NamedField, _ messages: [String: Int], _ enums: [String: Int]
    ) throws(WireReader.Malformed) -> ProtoField {
        let kind: ProtoField.Kind
        switch field.type {
        case DescriptorNumber.FieldType.double: kind = .double
        case DescriptorNumber.FieldType.int64: kind = .int64
        case DescriptorNumber.FieldType.int32: kind = .int32
        case DescriptorNumber.FieldType.bool: kind = .boolean
        case DescriptorNumber.FieldType.string: kind = .text
        case DescriptorNumber.FieldType.bytes: kind = .bytes
        case DescriptorNumber.FieldType.message:
            guard let place = messages[field.typeName] else { throw WireReader.Malformed() }
            kind = .message(place)
        case DescriptorNumber.FieldType.enumeration:
            guard let place = enums[field.typeName] else { throw WireReader.Malformed() }
            kind = .enumeration(place)
        default: kind = .other
        }
        let isMessage = if case .message = kind { true } else { false }
        return ProtoField(
            name: field.name, jsonName: field.jsonName, number: field.number, kind: kind, isRepeated: field.isRepeated,
            hasPresence: field.isOptional || isMessage, place: field.place, isAdditional: field.isAdditional,
            isJSONText: field.isJSONText)
    }

    // MARK: Files and messages

    private mutating func read(file bytes: [UInt8], _ range: Range<Int>) throws(WireReader.Malformed) {
        var (name, package) = ("", "")
        var imports: [String] = []
        let fields = try Self.fields(bytes, range)
        for (number, value) in fields {
            guard case .bytes(let range) = value else { continue }
            switch number {
            case DescriptorNumber.File.name: name = Self.text(bytes, range)
            case DescriptorNumber.File.package: package = Self.text(bytes, range)
            case DescriptorNumber.File.dependency: imports.append(Self.text(bytes, range))
            default: break
            }
        }
        declared = Declared()
        for (number, value) in fields {
            guard case .bytes(let range) = value else { continue }
            switch number {
            case DescriptorNumber.File.message: try read(message: bytes, range, in: package)
            case DescriptorNumber.File.enumeration: try read(enumeration: bytes, range, in: package)
            case DescriptorNumber.File.service: try read(service: bytes, range, in: package)
            case DescriptorNumber.File.extension: try read(extension: bytes, range, in: package)
            default: break
            }
        }
        files.append(
            ProtoFile(
                name: name, bytes: Array(bytes[range]), imports: imports, symbols: declared.symbols,
                extensions: declared.extensions))
    }

    private mutating func read(
        message bytes: [UInt8], _ range: Range<Int>, in scope: String
    ) throws(WireReader.Malformed) {
        var message = NamedMessage()
        let fields = try Self.fields(bytes, range)
        for case (DescriptorNumber.Message.name, .bytes(let range)) in fields {
            message.fullName = "\(scope).\(Self.text(bytes, range))"
        }
        declared.symbols.append(message.fullName)
        for (number, value) in fields {
            guard case .bytes(let range) = value else { continue }
            switch number {
            case DescriptorNumber.Message.field: message.fields.append(try Self.read(field: bytes, range))
            case DescriptorNumber.Message.nested: try read(message: bytes, range, in: message.fullName)
            case DescriptorNumber.Message.enumeration: try read(enumeration: bytes, range, in: message.fullName)
            case DescriptorNumber.Message.options:
                for case (let number, .varint(let value)) in try Self.fields(bytes, range) {
                    if number == DescriptorNumber.Option.mapEntry { message.isMapEntry = value != 0 }
                    if number == DescriptorNumber.Option.list { message.isList = value != 0 }
                }
            default: break
            }
        }
        messages.append(message)
    }

    private static func read(field bytes: [UInt8], _ range: Range<Int>) throws(WireReader.Malformed) -> NamedField {
        var field = NamedField()
        for (number, value) in try fields(bytes, range) {
            switch (number, value) {
            case (DescriptorNumber.Field.name, .bytes(let range)): field.name = text(bytes, range)
            case (DescriptorNumber.Field.number, .varint(let value)): field.number = Int(truncatingIfNeeded: value)
            case (DescriptorNumber.Field.label, .varint(let value)):
                field.isRepeated = value == DescriptorNumber.Field.repeated
            case (DescriptorNumber.Field.type, .varint(let value)): field.type = value
            case (DescriptorNumber.Field.typeName, .bytes(let range)):
                field.typeName = String(text(bytes, range).dropFirst())
            case (DescriptorNumber.Field.jsonName, .bytes(let range)): field.jsonName = text(bytes, range)
            case (DescriptorNumber.Field.isOptional, .varint(let value)): field.isOptional = value != 0
            case (DescriptorNumber.Field.options, .bytes(let range)):
                for case (let number, .varint(let value)) in try fields(bytes, range) {
                    switch number {
                    case DescriptorNumber.Option.place: field.place = ProtoField.Place(rawValue: value) ?? .body
                    case DescriptorNumber.Option.additional: field.isAdditional = value != 0
                    case DescriptorNumber.Option.jsonText: field.isJSONText = value != 0
                    default: break
                    }
                }
            default: break
            }
        }
        return field
    }

    private mutating func read(
        enumeration bytes: [UInt8], _ range: Range<Int>, in scope: String
    ) throws(WireReader.Malformed) {
        var name = ""
        var values: [(number: Int32, text: String)] = []
        for case (let number, .bytes(let range)) in try Self.fields(bytes, range) {
            if number == DescriptorNumber.Enumeration.name { name = Self.text(bytes, range) }
            guard number == DescriptorNumber.Enumeration.value else { continue }
            var value: (number: Int32, text: String?) = (0, nil)
            for (number, part) in try Self.fields(bytes, range) {
                if number == DescriptorNumber.Value.number, case .varint(let number) = part {
                    value.number = Int32(truncatingIfNeeded: number)
                }
                guard number == DescriptorNumber.Value.options, case .bytes(let range) = part else { continue }
                for case (DescriptorNumber.Option.text, .bytes(let range)) in try Self.fields(bytes, range) {
                    value.text = Self.text(bytes, range)
                }
            }
            if let text = value.text { values.append((value.number, text)) }
        }
        declared.symbols.append("\(scope).\(name)")
        enums.append(ProtoEnum(fullName: "\(scope).\(name)", values: values))
    }

    // MARK: Services

    private mutating func read(
        service bytes: [UInt8], _ range: Range<Int>, in scope: String
    ) throws(WireReader.Malformed) {
        var name = ""
        let fields = try Self.fields(bytes, range)
        for case (DescriptorNumber.Service.name, .bytes(let range)) in fields { name = Self.text(bytes, range) }
        declared.symbols.append("\(scope).\(name)")
        for case (DescriptorNumber.Service.method, .bytes(let range)) in fields {
            var method = NamedMethod(service: "\(scope).\(name)")
            for (number, value) in try Self.fields(bytes, range) {
                switch (number, value) {
                case (DescriptorNumber.Method.name, .bytes(let range)): method.name = Self.text(bytes, range)
                case (DescriptorNumber.Method.input, .bytes(let range)):
                    method.input = String(Self.text(bytes, range).dropFirst())
                case (DescriptorNumber.Method.output, .bytes(let range)):
                    method.output = String(Self.text(bytes, range).dropFirst())
                case (DescriptorNumber.Method.streamsAnswers, .varint(let value)): method.streamsAnswers = value != 0
                case (DescriptorNumber.Method.options, .bytes(let range)):
                    for case (DescriptorNumber.Option.route, .bytes(let range)) in try Self.fields(bytes, range) {
                        method.route = try Self.read(route: bytes, range)
                    }
                default: break
                }
            }
            declared.symbols.append("\(method.service).\(method.name)")
            methods.append(method)
        }
    }

    private static func read(
        route bytes: [UInt8], _ range: Range<Int>
    ) throws(WireReader.Malformed) -> ProtoMethod.Route {
        var route = ProtoMethod.Route()
        for (number, value) in try fields(bytes, range) {
            switch (number, value) {
            case (DescriptorNumber.Route.method, .bytes(let range)): route.method = text(bytes, range)
            case (DescriptorNumber.Route.path, .bytes(let range)): route.path = text(bytes, range)
            case (DescriptorNumber.Route.body, .bytes(let range)): route.body = text(bytes, range)
            case (DescriptorNumber.Route.listeners, .bytes(let range)): route.listeners.append(text(bytes, range))
            case (DescriptorNumber.Route.scopes, .bytes(let range)): route.scopes.append(text(bytes, range))
            case (DescriptorNumber.Route.watches, .varint(let value)): route.watches = value != 0
            default: break
            }
        }
        return route
    }

    private mutating func read(
        extension bytes: [UInt8], _ range: Range<Int>, in scope: String
    ) throws(WireReader.Malformed) {
        var (name, extended, number) = ("", "", 0)
        for field in try Self.fields(bytes, range) {
            switch (field.number, field.value) {
            case (DescriptorNumber.Field.name, .bytes(let range)): name = Self.text(bytes, range)
            case (DescriptorNumber.Field.number, .varint(let value)): number = Int(truncatingIfNeeded: value)
            case (DescriptorNumber.Field.extended, .bytes(let range)):
                extended = String(Self.text(bytes, range).dropFirst())
            default: break
            }
        }
        declared.symbols.append("\(scope).\(name)")
        declared.extensions.append((extended, number))
    }

    private static func fields(
        _ bytes: [UInt8], _ range: Range<Int>?
    ) throws(WireReader.Malformed) -> [(number: Int, value: WireReader.Value)] {
        var reader = WireReader(bytes, in: range)
        var fields: [(number: Int, value: WireReader.Value)] = []
        while let field = try reader.next() { fields.append(field) }
        return fields
    }

    private static func text(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}
