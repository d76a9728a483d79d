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

    /// The names of the types in the module's sources that conform to a protocol.
    static func sourceTypes(conformingTo name: String) throws -> Set<String> {
        let sources = folder.appending(path: "../../Sources/AppStoreAPI").standardizedFileURL
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        var types: Set<String> = []
        for path in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasSuffix(": \(name) {") {
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "struct") else { continue }
                types.insert(String(words[keyword + 1].dropLast()))
            }
        }
        return types
    }

    private static func table(_ name: String, of file: String) throws -> JSONObject {
        let bytes = try [UInt8](Data(contentsOf: folder.appending(path: "Resources").appending(path: file)))
        guard let table = try JSONValue(parsing: bytes).object?[name]?.object else { throw Missing(name: name) }
        return table
    }

    struct Missing: Error {
        let name: String
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
}
