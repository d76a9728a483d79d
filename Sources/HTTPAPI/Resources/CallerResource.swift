import Domain
import HTTPTypes
import JSON

/// The callers and their keys, for operators.
struct CallerRoutes: Sendable {
    let service: CallerKeyService

    /// `GET /v1/callers`.
    func list(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let callers = try await service.callers()
        return Answer.object { writer in
            writer.member("issuerId", service.issuerID)
            writer.memberArray("callers") { writer in
                for caller in callers { writer.object { Self.write(caller, to: &$0) } }
            }
        }
    }

    /// `POST /v1/callers/{name}/keys`.
    func issueKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let body = try CallerKeyBody(try input.jsonObject())
        let key = try await service.issue(
            CallerKeyService.Request(
                caller: try input.parameter("name"), app: body.app, publicKey: body.publicKey, scopes: body.scopes))
        return Answer.object(.created) { writer in
            writer.member("issuerId", service.issuerID)
            Self.write(key, to: &writer)
        }
    }

    /// `DELETE /v1/callers/{name}/keys/{keyId}`.
    func revokeKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let key = try await service.revoke(try input.parameter("keyId"), of: try input.parameter("name"))
        return Answer.object { writer in
            writer.member("issuerId", service.issuerID)
            Self.write(key, to: &writer)
        }
    }

    private static func write(_ caller: CallerKeyService.Listing, to writer: inout JSONWriter) {
        writer.member("name", caller.name)
        writer.member("source", caller.isConfigured ? "configuration" : "keys")
        writer.memberObject("scopes") { writer in
            for (app, scopes) in caller.scopes.sorted(by: { $0.key < $1.key }) {
                writer.memberArray(app) { write(scopes, to: &$0) }
            }
        }
        writer.memberArray("keys") { writer in
            for key in caller.keys { writer.object { write(key, to: &$0) } }
        }
    }

    private static func write(_ listed: CallerKeyService.ListedKey, to writer: inout JSONWriter) {
        let key = listed.key
        writer.member("keyId", key.id)
        writer.member("app", key.app)
        writer.member("state", listed.state.rawValue)
        if let scopes = key.scopes {
            writer.memberArray("scopes") { write(scopes, to: &$0) }
        } else {
            writer.memberNull("scopes")
        }
        writer.member("createdAt", Timestamp.text(key.createdAt))
        writer.memberOrNull("revokedAt", key.revokedAt.map(Timestamp.text))
    }

    private static func write(_ scopes: Set<Scope>, to writer: inout JSONWriter) {
        for scope in scopes.map(\.rawValue).sorted() { writer.value(scope) }
    }
}

/// The body of a request for a caller key, read with all its violations at once.
struct CallerKeyBody: Sendable {
    let app: String
    let publicKey: String
    let scopes: Set<Scope>?

    /// - Throws: `invalidRequest` with every violation.
    init(_ members: JSONMembers) throws(ServiceError) {
        var violations: [Violation] = []
        for name in members.map(\.key).sorted() where !["app", "publicKey", "scopes"].contains(name) {
            violations.append(
                Violation(field: name, rule: "unknownField", message: "`\(name)` is not a field of this request."))
        }
        let app = Self.string("app", in: members, &violations)
        let publicKey = Self.string("publicKey", in: members, &violations)
        scopes = Self.scopes(in: members, &violations)
        guard violations.isEmpty, let app, let publicKey else { throw .invalid(violations) }
        self.app = app
        self.publicKey = publicKey
    }

    private static func string(_ name: String, in members: JSONMembers, _ violations: inout [Violation]) -> String? {
        guard let text = members[name]?.string else {
            let rule = members[name] == nil ? "required" : "type"
            violations.append(Violation(field: name, rule: rule, message: "`\(name)` must be a string."))
            return nil
        }
        return text
    }

    private static func scopes(in members: JSONMembers, _ violations: inout [Violation]) -> Set<Scope>? {
        guard let slice = members["scopes"], slice.kind != .null else { return nil }
        guard let elements = slice.array else {
            violations.append(Violation(field: "scopes", rule: "type", message: "`scopes` must be a list of scopes."))
            return nil
        }
        let scopes = elements.map { $0.string.flatMap(Scope.init(rawValue:)) }
        if scopes.contains(nil) {
            let known = Scope.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            violations.append(
                Violation(field: "scopes", rule: "enum", message: "Each of `scopes` must be one of \(known)."))
        }
        return Set(scopes.compactMap(\.self))
    }
}
