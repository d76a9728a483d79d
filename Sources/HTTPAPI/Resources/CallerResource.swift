import Domain
import HTTPTypes
import JSON

/// The callers and their keys, for operators.
struct CallerRoutes: Sendable {
    let service: CallerKeyService

    /// `GET /v1/callers`.
    func list(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
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
        var fields = try input.fields()
        let request = service.request(for: try input.parameter("name"), &fields)
        guard fields.isValid, let request else { throw fields.error }
        let key = try await service.issue(request)
        return Answer.object(.created) { writer in
            writer.member("issuerId", service.issuerID)
            Self.write(key, to: &writer)
        }
    }

    /// `DELETE /v1/callers/{name}/keys/{keyId}`.
    func revokeKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
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
