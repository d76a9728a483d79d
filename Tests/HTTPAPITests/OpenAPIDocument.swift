import Foundation
import HTTPTypes
import Testing
import Yams

@testable import HTTPAPI

/// `api/openapi.yaml`, read for tests.
enum OpenAPIDocument {
    /// One operation of one path.
    struct Operation {
        let method: HTTPRequest.Method
        let path: String
        let content: [String: Any]

        private var responses: [String: Any] { (content["responses"] as? [String: Any]) ?? [:] }

        /// The statuses that are listed one by one.
        var statuses: Set<Int> { Set(responses.keys.compactMap(Int.init)) }

        /// The listeners that serve it.
        var listeners: [String] { (content["x-purser-listeners"] as? [String]) ?? [] }

        /// The scopes of which a caller needs one.
        var scopes: Set<String> {
            let scopes = content["x-purser-scope"]
            return Set((scopes as? [String]) ?? [scopes as? String].compactMap(\.self))
        }

        /// Whether it asks nobody who it is.
        var isOpen: Bool { (content["security"] as? [Any])?.isEmpty == true }

        /// Which component answers with a status.
        func reference(of status: String) -> String? { (responses[status] as? [String: Any])?["$ref"] as? String }
    }

    static func load() throws -> [String: Any] {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        let text = try String(contentsOf: url.appending(path: "api/openapi.yaml"), encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    static func operations() throws -> [Operation] {
        let paths = try #require(try load()["paths"] as? [String: [String: Any]])
        return try paths.sorted { $0.key < $1.key }.flatMap { path, items in
            try items.filter { $0.key != "parameters" }.map { name, value in
                let method = try #require(HTTPRequest.Method(name.uppercased()))
                return Operation(method: method, path: path, content: try #require(value as? [String: Any]))
            }
        }
    }
}

/// Which statuses each operation of a listener lists.
struct DocumentedAnswers: Sendable {
    static let all = Result {
        let operations = try OpenAPIDocument.operations()
        return Dictionary(
            uniqueKeysWithValues: Set(operations.flatMap(\.listeners)).map { listener in
                (listener, DocumentedAnswers(operations.filter { $0.listeners.contains(listener) }))
            })
    }

    private let table: RouteTable
    private let statuses: [Set<Int>]

    private init(_ operations: [OpenAPIDocument.Operation]) {
        table = RouteTable(operations.map { ($0.method, $0.path) })
        statuses = operations.map(\.statuses)
    }

    /// Whether the operation that a request means lists a status; true where it means none.
    func isListed(_ status: Int, for method: HTTPRequest.Method, _ target: String) -> Bool {
        let path = target.prefix { $0 != "?" }
        guard case .found(let number, _) = table.match(method, String(path)) else { return true }
        return statuses[number].contains(status)
    }
}
