import JSON

/// Builds whole objects from the contract data, so that each field has a value of its type.
struct SampleBuilder {
    let objects: JSONObject
    let enumerations: JSONObject

    init() throws {
        objects = try ContractData.objects()
        enumerations = try ContractData.enumerations()
    }

    /// An object with every field, in the order of the data.
    func object(_ name: String) throws -> JSONValue {
        .object(JSONObject(try fields(of: name).map { ($0.name, try value($0.type)) }))
    }

    /// The fields of an object with their types, in the notation of the data but for the mark of those required.
    func fields(of name: String) throws -> [(name: String, type: String)] {
        guard let fields = objects[name]?.object else { throw ContractData.Missing(name: name) }
        return fields.members.map { field in
            let type = field.value.string ?? ""
            return (field.key, type.hasSuffix("!") ? String(type.dropLast()) : type)
        }
    }

    /// A value of a type in the notation of the data.
    private func value(_ type: String) throws -> JSONValue {
        switch type {
        case "string": return "text \u{E9} \"quoted\""
        case "uuid": return "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"
        case "boolean": return true
        case "int32": return 2_147_483_647
        case "int64", "timestamp": return 1_698_148_900_123
        case _ where type.hasPrefix("["):
            let element = try value(String(type.dropFirst().dropLast()))
            return [element, element]
        case _ where type.hasPrefix("{"):
            let parts = type.dropFirst().dropLast().split(separator: ":").map { $0.drop { $0 == " " } }
            let values = enumerations[String(parts[0])]?.array?.compactMap(\.string) ?? []
            return .object(JSONObject(try values.sorted().map { ($0, try value(String(parts[1]))) }))
        default:
            if let values = enumerations[type]?.array, let last = values.last { return last }
            return try object(type)
        }
    }
}
