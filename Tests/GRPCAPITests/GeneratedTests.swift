import Foundation
import JSON
import OpenSSL
import Testing
import Yams

@testable import GRPCAPI

/// The contract in Protocol Buffers is that of `api/openapi.yaml`, operation by operation and member by member.
struct GeneratedTests {
    /// Operations without a method; the reasons stand in `deploy/proto/proto_plan.py`.
    private static let leftOut: [String: String] = [
        "receiveNotification": "Apple posts to it, and knows no gRPC",
        "getLiveness": "grpc.health.v1 tells it",
        "getReadiness": "grpc.health.v1 tells it",
        "getMetrics": "Prometheus scrapes it",
        "importKey": "a private key becomes no message: its bytes are wiped where they arrive",
        "uploadReceiptOfAnyApp": "the form of another API, for its clients; UploadReceipt does the same",
    ]

    private static func openAPI() throws -> [String: Any] {
        let text = try String(
            contentsOf: ContractFixture.root.appending(path: "api/openapi.yaml"), encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    private struct Operation {
        let method: String
        let path: String
        let content: [String: Any]
        var id: String { content["operationId"] as? String ?? "" }
    }

    private static func operations() throws -> [Operation] {
        let paths = try #require(try openAPI()["paths"] as? [String: [String: Any]])
        return paths.flatMap { path, items in
            items.filter { $0.key != "parameters" }.compactMap { method, value in
                (value as? [String: Any]).map { Operation(method: method.uppercased(), path: path, content: $0) }
            }
        }
    }

    /// Needs no Python: what the files were made of is what is there.
    @Test func `the generated files are current; make proto makes them anew`() throws {
        var content: [UInt8] = []
        for file in ["api/openapi.yaml", "api/purser/numbers.json", "Tests/AppStoreAPITests/Resources/models.json"] {
            content += Array(try Data(contentsOf: ContractFixture.root.appending(path: file)))
        }
        #expect(ContractFixture.hex(Array(try SHA256Digest.digest(content))) == GeneratedDescriptors.sources)
    }

    @Test func `every operation has its method or a reason, and every method is an operation`() throws {
        let methods = try ContractFixture.contract.get().methods
        let routed = methods.map { "\($0.route.method) \($0.route.path)" }
        for operation in try Self.operations() {
            let found = methods.filter {
                $0.route.method == operation.method && $0.route.path == operation.path && !$0.route.watches
            }
            guard Self.leftOut[operation.id] == nil else {
                #expect(found.isEmpty, "\(operation.id) has a reason and a method")
                continue
            }
            let method = try #require(found.first, "\(operation.id) has no method")
            #expect(found.count == 1)
            #expect(method.name.lowercased() == operation.id.lowercased())
            #expect(method.route.listeners == operation.content["x-purser-listeners"] as? [String])
            let scope = operation.content["x-purser-scope"]
            #expect(method.route.scopes == scope as? [String] ?? [scope as? String].compactMap(\.self))
        }
        let known = Set(try Self.operations().map { "\($0.method) \($0.path)" })
        #expect(Set(routed).subtracting(known) == [])
        #expect(Set(methods.map(\.path)).count == methods.count && methods.count == 100)
        #expect(methods.filter(\.route.watches).map(\.path) == ["purser.v1.EventsService/WatchEvents"])
    }

    @Test func `the reasons are those of the generator`() throws {
        let plan = try String(
            contentsOf: ContractFixture.root.appending(path: "deploy/proto/proto_plan.py"), encoding: .utf8)
        for (operation, reason) in Self.leftOut { #expect(plan.contains(#""\#(operation)": "\#(reason)""#)) }
    }

    @Test func `every parameter of an operation is a field of its method, in its place`() throws {
        let contract = try ContractFixture.contract.get()
        for method in contract.methods {
            let fields = contract.messages[method.input].fields
            let placeholders = method.route.path.matches(of: /\{(\w+)\}/).map { String($0.1) }
            #expect(Set(fields.filter { $0.place == .path }.map(\.jsonName)) == Set(placeholders), "\(method.path)")
            if !["", "*"].contains(method.route.body) {
                #expect(fields.filter { $0.place == .body }.map(\.name) == [method.route.body], "\(method.path)")
            }
            if method.route.body.isEmpty { #expect(!fields.contains { $0.place == .body }, "\(method.path)") }
        }
    }

    @Test func `no two values of an enumeration are the same, and every field is of a type that is transcoded`() throws
    {
        let contract = try ContractFixture.contract.get()
        for message in contract.messages where message.fullName.hasPrefix("purser.v1.") {
            for field in message.fields { #expect(field.kind != .other, "\(message.fullName).\(field.name)") }
            #expect(Set(message.fields.map(\.jsonName)).count == message.fields.count, "\(message.fullName)")
        }
        #expect(contract.messages.count > 250 && contract.enums.count > 100)
    }

    @Test func `numbers that were given stay`() throws {
        let file = ContractFixture.root.appending(path: "api/purser/numbers.json")
        let numbers = try JSONValue(parsing: Array(try Data(contentsOf: file)))
        let contract = try ContractFixture.contract.get()
        for message in contract.messages where message.fullName.hasPrefix("purser.v1.") && !message.isMapEntry {
            let name = String(message.fullName.dropFirst("purser.v1.".count))
            guard let known = numbers[name] else { continue }
            for field in message.fields where !field.isAdditional {
                #expect(known[field.jsonName]?.int64 == Int64(field.number), "\(name).\(field.jsonName)")
            }
        }
    }
}
