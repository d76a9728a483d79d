import AppStoreAPI
import JSON

/// A request to the control port whose route is known.
struct ControlRequest: Sendable {
    /// The values in the path, in order.
    let parameters: [String]
    let query: [QueryItem]
    let bytes: [UInt8]

    /// The body, in which only these members may be; an absent body has none.
    ///
    /// - Throws: ``ControlError/invalid(_:)``
    func body(_ allowed: [String]) throws(ControlError) -> ControlBody {
        try ControlBody(bytes.isEmpty ? Array("{}".utf8) : bytes, allowed: allowed)
    }

    /// The value of a parameter of the query.
    func queryValue(_ name: String) -> String? { query.last { $0.name == name }?.value }
}

/// A JSON object sent to the control port, read strictly: a misspelt member is an error and not a default.
struct ControlBody {
    let members: JSONMembers

    init(_ bytes: [UInt8], allowed: [String]) throws(ControlError) {
        do throws(JSONError) {
            members = try JSONScanner.members(of: bytes)
        } catch {
            throw .invalid("the body is not one JSON object: \(error)")
        }
        try check(allowed)
    }

    init(_ members: JSONMembers, allowed: [String]) throws(ControlError) {
        self.members = members
        try check(allowed)
    }

    private func check(_ allowed: [String]) throws(ControlError) {
        for name in members.keys where !allowed.contains(where: { UntrustedText($0) == name }) {
            throw .invalid("there is no member \(name.shortened); there are \(allowed.joined(separator: ", "))")
        }
    }

    func string(_ name: String) throws(ControlError) -> String? {
        try optional(name, "a string") { $0.string?.streamSafe }
    }

    func integer(_ name: String) throws(ControlError) -> Int64? {
        try optional(name, "an integer") { $0.int64 }
    }

    func bool(_ name: String) throws(ControlError) -> Bool? {
        try optional(name, "a boolean") { $0.bool }
    }

    func number(_ name: String) throws(ControlError) -> Double? {
        try optional(name, "a number") { $0.double }
    }

    func requiredString(_ name: String) throws(ControlError) -> String { try required(name, string(name)) }

    func requiredInteger(_ name: String) throws(ControlError) -> Int64 { try required(name, integer(name)) }

    /// An integer within bounds that keep it sane.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int? {
        guard let value = try integer(name) else { return nil }
        guard range.contains(value) else {
            throw .invalid("\(name) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(value)
    }

    func environment() throws(ControlError) -> SimulatedEnvironment? {
        guard let name = try string("environment") else { return nil }
        guard let environment = SimulatedEnvironment(rawValue: name) else {
            throw .invalid("environment must be Production or Sandbox")
        }
        return environment
    }

    /// An endpoint by the title of Apple's page for it.
    func operation() throws(ControlError) -> Endpoint.Operation? {
        guard let name = try string("endpoint") else { return nil }
        guard let operation = Endpoint.Operation.allCases.first(where: { $0.name == name }) else {
            let names = Endpoint.Operation.allCases.map(\.name).joined(separator: ", ")
            throw .invalid("endpoint must be one of \(names)")
        }
        return operation
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ControlError) -> Value {
        guard let value else { throw .invalid("\(name) is missing") }
        return value
    }

    private func optional<Value>(
        _ name: String, _ kind: String, _ read: (JSONSlice) -> Value?
    ) throws(ControlError) -> Value? {
        guard let slice = members[name], !slice.isNull else { return nil }
        guard let value = read(slice) else { throw .invalid("\(name) must be \(kind)") }
        return value
    }
}
