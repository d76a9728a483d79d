import Foundation
import JSON
import Listener
import Testing

@testable import GRPCAPI

/// `api/examples` by gRPC: each call has the same outcome as the exchange that is written there, by its code, its answer or its
/// violations.
struct GRPCExampleTests {
    /// Examples whose request no message can hold, with the reason; of those that fail the code is compared, the others are
    /// replayed as they stand, for those after them.
    private static let inexpressible: [String: String] = [
        "03-broken-rules.json": "an enumeration has no wrong text, only none",
        "11-broken-extension.json": "an empty list is none",
        "16-send-consumption-version-1.json": "version 1 is said in `apple_v1`, and not flat as well",
    ]

    /// Where routes begin that have no method: the form of another API, for its clients.
    private static let otherForm = "/client/itunes_connect/"

    @Test func `every example goes by gRPC as it is written`() async throws {
        try await ExampleTests.forEach { example, name, fixture in
            let isExpected = (200..<300).contains(example["response"]?["status"]?.int64 ?? 0)
            let isOther = example["request"]?["path"]?.string?.hasPrefix(Self.otherForm) == true
            guard !isOther, Self.inexpressible[name] == nil || !isExpected else {
                return try await ExampleTests().replay(example, name, fixture)
            }
            let isOperators = example["listener"] == "admin"
            let address = isOperators ? BoundAddress.unix(path: fixture.grpcAdminSocket) : fixture.grpc
            try await GRPCProbe.with(address, token: isOperators ? nil : DaemonFixture.token) { grpc in
                try await replay(example, name, grpc)
            }
        }
    }

    private func replay(_ example: JSONValue, _ name: String, _ grpc: GRPCProbe) async throws {
        let request = try #require(example["request"])
        let (method, json) = try Self.message(of: request)
        let reply = try await grpc.call(method.path, json.serializedString())
        let expected = try #require(example["response"]?["body"])
        let status = example["response"]?["status"]?.int64 ?? 0
        guard (200..<300).contains(status) else {
            if let code = expected["code"]?.string { #expect(reply.code == code, "\(name): \(reply.message)") }
            #expect(reply.code != "OK", "\(name)")
            guard Self.inexpressible[name] == nil, expected["code"] != nil else { return }
            let problem = try #require(reply.problem, "\(name) has no problem")
            #expect(problem["reason"] == expected["reason"], "\(name)")
            let difference = ExampleTests.difference(
                Self.normalized(expected["violations"] ?? []), Self.normalized(problem["violations"] ?? []),
                at: "violations")
            #expect(difference == nil, "\(name): \(difference ?? "")")
            return
        }
        #expect(reply.code == "OK", "\(name): \(reply.code) \(reply.message)")
        let told = reply.metadata["http-status"]
        #expect(told ?? "200" == String(status), "\(name)")
        let answer = try #require(reply.answer, "\(name)")
        let difference = Self.difference(Self.normalized(expected), Self.normalized(answer), at: "body")
        #expect(difference == nil, "\(name): \(difference ?? "")")
    }

    // MARK: Requests

    /// The method of a request of HTTP, and the message that says the same.
    private static func message(of request: JSONValue) throws -> (ProtoMethod, JSONValue) {
        let contract = try ProtoContract.current()
        let (verb, target) = (try #require(request["method"]?.string), try #require(request["path"]?.string))
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let (method, parameters) = try #require(
            contract.methods.lazy.compactMap { method in
                method.route.method == verb && !method.route.watches
                    ? match(method.route.path, parts[0]).map { (method, $0) } : nil
            }.min { $0.0.route.path.count(where: { $0 == "{" }) < $1.0.route.path.count(where: { $0 == "{" }) },
            "\(verb) \(target) is no method's")
        let fields = contract.messages[method.input].fields
        var members = parameters.map { ($0.key, JSONValue.string($0.value)) }
        var query: [String: [String]] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
            query[halves[0], default: []].append(halves.count > 1 ? halves[1] : "")
        }
        for (name, values) in query {
            let field = try #require(fields.first { $0.jsonName == name }, "\(method.name).\(name)")
            let typed = try values.map { try value($0, field) }
            members.append((name, field.isRepeated ? .array(typed) : typed[0]))
        }
        for member in request["headers"]?.object?.members ?? [] where member.key == "Idempotency-Key" {
            members.append((member.key, member.value))
        }
        if let body = request["body"]?.object {
            if method.route.body == "*" {
                members += body.members.map { ($0.key, $0.value) }
            } else if let field = fields.first(where: { $0.name == method.route.body }) {
                members.append((field.jsonName, .object(body)))
            }
        }
        return (method, .object(JSONObject(members)))
    }

    private static func value(_ text: String, _ field: ProtoField) throws -> JSONValue {
        switch field.kind {
        case .boolean: .bool(text == "true")
        case .int32, .int64: .number(JSONNumber(try #require(Int64(text))))
        default: .string(text)
        }
    }

    /// The parameters of a path, by its template; nil where it is another's.
    private static func match(_ template: String, _ path: String) -> [String: String]? {
        let (expected, given) = (template.split(separator: "/"), path.split(separator: "/"))
        guard expected.count == given.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, text) in zip(expected, given) {
            guard part.first == "{", let end = part.firstIndex(of: "}") else {
                guard part == text else { return nil }
                continue
            }
            let verb = part[part.index(after: end)...]
            guard verb.isEmpty ? !text.contains(":") : text.hasSuffix(verb) else { return nil }
            let name = String(part[part.index(after: part.startIndex)..<end])
            parameters[name] = String(text.dropLast(verb.count)).removingPercentEncoding
        }
        return parameters
    }

    // MARK: Answers

    /// What messages cannot tell apart is the same: null, what is left out, and what is empty; and a time with or without
    /// thousandths that are none.
    private static func normalized(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            let nothing: [JSONValue] = [.null, [], [:], "", false, 0]
            var members: [(String, JSONValue)] = []
            for member in object.members {
                let value = normalized(member.value)
                if !nothing.contains(value) { members.append((member.key, value)) }
            }
            return .object(JSONObject(members))
        case .array(let elements): return .array(elements.map(normalized))
        case .string(let text) where text.hasSuffix(".000Z"): return .string(text.replacing(".000Z", with: "Z"))
        default: return value
        }
    }

    /// Where an answer departs from what is written; anything, also nothing, may stand where anything may.
    private static func difference(_ expected: JSONValue, _ actual: JSONValue, at path: String) -> String? {
        if expected == "{{any}}" { return nil }
        guard let object = expected.object, let found = actual.object else {
            guard let elements = expected.array, let others = actual.array else {
                return expected == actual ? nil : "\(path) is \(actual.serializedString())"
            }
            guard elements.count == others.count else { return "\(path) has \(others.count) elements" }
            return zip(elements, others).enumerated().lazy.compactMap { index, pair in
                difference(pair.0, pair.1, at: "\(path)[\(index)]")
            }.first
        }
        let names = Set(object.keys).union(found.keys)
        for name in names {
            guard let wanted = object[name] else {
                return "\(path).\(name) is told: \(found[name]?.serializedString() ?? "")"
            }
            if wanted == "{{any}}" { continue }
            guard let value = found[name] else { return "\(path).\(name) is missing" }
            if let difference = difference(wanted, value, at: "\(path).\(name)") { return difference }
        }
        return nil
    }
}
