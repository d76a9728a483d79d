import Domain
import HTTPTypes
import JSON

/// The callers and what they prove themselves by, for operators.
struct CallerRoutes: Sendable {
    let administration: CallerAdministration
    let keys: CallerKeyService
    private let tokens: PageTokenCoder

    init(_ access: Access, tokens: PageTokenCoder) {
        self.tokens = tokens

        administration = access.administration
        keys = access.keys
    }

    /// `GET /v1/callers`.
    func list(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(&fields, of: "callers", nil, input, maximumSize: PageLimit.storedRows, tokens)
        try fields.finish()
        let position = try page.position(CallerListing.Position.init(text:))
        let found = administration.callers(after: position, limit: page.limit)
        let (callers, next) = page.page(found) { $0.position.text }
        return Answer.object { writer in
            writer.member("issuerId", keys.issuerID)
            writer.memberArray("callers") { writer in
                for caller in callers { writer.object { CallerBody.write(caller, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `POST /v1/callers`.
    func add(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let addition = administration.addition(&fields)
        guard fields.isValid, let addition else { throw fields.error }
        return answer(.created, try await administration.add(addition, by: input.actor))
    }

    /// `GET /v1/callers/{name}`.
    func get(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return answer(.ok, try administration.caller(try input.parameter("name")))
    }

    /// `DELETE /v1/callers/{name}`.
    func remove(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return answer(.ok, try await administration.remove(try input.parameter("name"), by: input.actor))
    }

    /// `POST /v1/callers/{name}:grant`.
    func grant(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let (app, scopes) = try scopes(input)
        return answer(
            .ok,
            try await administration.grant(scopes, for: app, to: try input.parameter("name"), by: input.actor))
    }

    /// `POST /v1/callers/{name}:ungrant`.
    func ungrant(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let (app, scopes) = try scopes(input)
        return answer(
            .ok,
            try await administration.ungrant(scopes, for: app, from: try input.parameter("name"), by: input.actor))
    }

    /// `POST /v1/callers/{name}/tokens`.
    func rotate(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let rotation = administration.rotation(&fields)
        try fields.finish()
        return answer(
            .created, try await administration.rotate(try input.parameter("name"), rotation, by: input.actor))
    }

    /// `DELETE /v1/callers/{name}/tokens/{tokenId}`.
    func revokeToken(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return answer(
            .ok,
            try await administration.revoke(
                token: try input.parameter("tokenId"), of: try input.parameter("name"), by: input.actor))
    }

    /// `PUT /v1/callers/{name}/bindings/{kind}/{value}`.
    func bind(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let binding = try binding(input)
        return answer(
            .ok, try await administration.bind(binding, to: try input.parameter("name"), by: input.actor))
    }

    /// `DELETE /v1/callers/{name}/bindings/{kind}/{value}`.
    func unbind(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let binding = try binding(input)
        return answer(
            .ok, try await administration.unbind(binding, from: try input.parameter("name"), by: input.actor))
    }

    /// `POST /v1/callers/{name}/keys`.
    func issueKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = keys.request(for: try input.parameter("name"), &fields)
        guard fields.isValid, let request else { throw fields.error }
        return answer(.created, try await keys.issue(request, by: input.actor))
    }

    /// `DELETE /v1/callers/{name}/keys/{keyId}`.
    func revokeKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return answer(
            .ok,
            try await keys.revoke(
                try input.parameter("keyId"), of: try input.parameter("name"), by: input.actor))
    }

    private func scopes(_ input: RequestInput) throws(ServiceError) -> (app: String, scopes: Set<Scope>) {
        var fields = try input.fields()
        let grant = administration.grant(&fields)
        guard fields.isValid, let grant else { throw fields.error }
        return grant
    }

    private func binding(_ input: RequestInput) throws(ServiceError) -> CallerBinding {
        var fields = try input.fields()
        let binding = administration.binding(&fields)
        guard fields.isValid, let binding else { throw fields.error }
        return binding
    }

    private func answer(_ status: HTTPResponse.Status, _ caller: CallerListing) -> Answer {
        Answer.object(status) { CallerBody.write(caller, to: &$0) }
    }

    /// The only answers that hold a token: those documented to give one.
    private func answer(_ status: HTTPResponse.Status, _ issued: CallerAdministration.Issued) -> Answer {
        Answer.object(status) { writer in
            if let token = issued.token {
                writer.memberObject("token") { writer in
                    writer.member("tokenId", token.id)
                    writer.member("token", token.text)
                    writer.memberOrNull("expiresAt", token.expiresAt.map(Timestamp.text))
                }
            } else {
                writer.memberNull("token")
            }
            writer.memberObject("caller") { CallerBody.write(issued.caller, to: &$0) }
        }
    }

    private func answer(_ status: HTTPResponse.Status, _ key: CallerListing.Key) -> Answer {
        Answer.object(status) { writer in
            writer.member("issuerId", keys.issuerID)
            CallerBody.write(key, to: &writer)
        }
    }
}

/// The caller object of our API.
enum CallerBody {
    static func write(_ caller: CallerListing, to writer: inout JSONWriter) {
        writer.member("name", caller.name)
        writer.member("source", caller.source.rawValue)
        writer.member("shadowed", caller.isShadowed)
        writer.memberOrNull("createdAt", caller.createdAt.map(Timestamp.text))
        writer.memberOrNull("lastUsedAt", caller.lastUsedAt.map(Timestamp.text))
        writer.memberObject("scopes") { writer in
            for (app, scopes) in caller.scopes.sorted(by: { $0.key < $1.key }) {
                writer.memberArray(app) { write(scopes, to: &$0) }
            }
        }
        writer.memberArray("tokens") { writer in
            for token in caller.tokens { writer.object { write(token, to: &$0) } }
        }
        writer.memberArray("bindings") { writer in
            for binding in caller.bindings { writer.object { write(binding, to: &$0) } }
        }
        writer.memberArray("keys") { writer in
            for key in caller.keys { writer.object { write(key, to: &$0) } }
        }
    }

    static func write(_ listed: CallerListing.Key, to writer: inout JSONWriter) {
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
        writer.memberOrNull("lastUsedAt", listed.lastUsedAt.map(Timestamp.text))
    }

    private static func write(_ token: CallerListing.Token, to writer: inout JSONWriter) {
        writer.member("tokenId", token.id)
        writer.member("state", token.state.rawValue)
        writer.memberOrNull("createdAt", token.createdAt.map(Timestamp.text))
        writer.memberOrNull("expiresAt", token.expiresAt.map(Timestamp.text))
        writer.memberOrNull("revokedAt", token.revokedAt.map(Timestamp.text))
        writer.memberOrNull("lastUsedAt", token.lastUsedAt.map(Timestamp.text))
    }

    private static func write(_ listed: CallerListing.Binding, to writer: inout JSONWriter) {
        writer.member("kind", listed.binding.kind.rawValue)
        writer.member("value", listed.binding.value)
        writer.member("state", listed.state.rawValue)
        writer.memberOrNull("lastUsedAt", listed.lastUsedAt.map(Timestamp.text))
    }

    private static func write(_ scopes: Set<Scope>, to writer: inout JSONWriter) {
        for scope in scopes.map(\.rawValue).sorted() { writer.value(scope) }
    }
}
