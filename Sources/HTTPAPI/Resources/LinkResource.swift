import Domain
import HTTPTypes
import JSON

/// Declaring, ending and listing a user's links.
struct LinkRoutes: Sendable {
    let service: LinkService

    /// `GET …/links`.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        Self.answer(try await service.links(app: app, user: try input.user()))
    }

    /// `PUT …/links/{kind}/{value}`.
    func declare(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let user = fields.user()
        let target = Self.target(&fields)
        let environment = fields.environment(for: app)
        let transfer = fields.flag("transfer")
        guard fields.isValid, let user, let target else { throw fields.error }
        let (link, isNew) = try await service.declare(
            app: app, user: user, target: target, environment: environment, transfer: transfer,
            caller: input.caller?.name ?? "")
        return Answer.object(isNew ? .created : .ok) { LinkBody.write(link, to: &$0) }
    }

    /// `DELETE …/links/{kind}/{value}`.
    func end(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let user = fields.user()
        let target = Self.target(&fields)
        guard fields.isValid, let user, let target else { throw fields.error }
        return Self.answer(try await service.end(app: app, user: user, target: target))
    }

    private static func target(_ fields: inout FieldReader) -> LinkTarget? {
        let kind = fields.choice("kind", LinkTarget.Kind.self, in: .path)
        guard let value = fields.text("value", in: .path), let kind else { return nil }
        let target = LinkTarget(kind, value)
        return fields.check { () throws(ServiceError) in
            try LinkService.check(target)
            return target
        }
    }

    private static func answer(_ links: [Link]) -> Answer {
        Answer.object { LinkBody.write(links, to: &$0) }
    }
}

/// The link object of our API.
enum LinkBody {
    static func write(_ link: Link, to writer: inout JSONWriter) {
        writer.member("app", link.app)
        writer.member("user", link.user.value)
        writer.member("kind", link.target.kind.rawValue)
        writer.member("value", link.target.value)
        writer.memberOrNull("environment", link.environment?.rawValue)
        writer.member("source", link.source.rawValue)
        writer.memberOrNull("validFrom", link.validFrom.map(Timestamp.text))
        writer.memberOrNull("validUntil", link.validUntil.map(Timestamp.text))
        writer.member("createdAt", Timestamp.text(link.createdAt))
        writer.member("createdBy", link.createdBy)
    }

    /// Writes the member `links`.
    static func write(_ links: [Link], to writer: inout JSONWriter) {
        writer.memberArray("links") { writer in
            for link in links { writer.object { write(link, to: &$0) } }
        }
    }
}
