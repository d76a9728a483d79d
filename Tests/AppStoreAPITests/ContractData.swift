import Foundation
import JSON

/// What Apple documents, as this project has written it down in `Resources`.
enum ContractData {
    /// Apple's objects: their fields with types in the notation of `models.json`.
    static func objects() throws -> JSONObject { try table("objects", of: "models.json") }

    /// Apple's enumerations: their values.
    static func enumerations() throws -> JSONObject { try table("enumerations", of: "models.json") }

    static func errors() throws -> JSONObject { try table("errors", of: "errors.json") }

    static func endpoints() throws -> JSONObject { try table("endpoints", of: "endpoints.json") }

    /// The names of the objects that calls take or give.
    static func bodies() throws -> Set<String> {
        let bodies = try endpoints().members.flatMap { call in
            ["request", "response"].compactMap { call.value.object?[$0]?.string }
        }
        return Set(bodies).subtracting(["image/png"])
    }

    private static func table(_ name: String, of file: String) throws -> JSONObject {
        let bytes = try [UInt8](Data(contentsOf: folder.appending(path: "Resources").appending(path: file)))
        guard let table = try JSONValue(parsing: bytes).object?[name]?.object else { throw Missing(name: name) }
        return table
    }

    struct Missing: Error {
        let name: String
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
}

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
