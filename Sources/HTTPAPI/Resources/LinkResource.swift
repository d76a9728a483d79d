import Domain
import HTTPTypes
import JSON

/// Declaring, ending and listing a user's links.
struct LinkRoutes: Sendable {
    let service: LinkService

    /// `GET …/links`.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let links = try await service.links(app: app, user: try UserID(try input.parameter("user")))
        return Self.answer(links)
    }

    /// `PUT …/links/{kind}/{value}`.
    func declare(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: ["environment", "transfer"])
        let (link, isNew) = try await service.declare(
            app: app, user: try UserID(try input.parameter("user")), target: try Self.target(input),
            environment: try input.environment(for: app), transfer: try input.flag("transfer"),
            caller: input.caller?.name ?? "")
        return Answer.object(isNew ? .created : .ok) { LinkBody.write(link, to: &$0) }
    }

    /// `DELETE …/links/{kind}/{value}`.
    func end(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let ended = try await service.end(
            app: app, user: try UserID(try input.parameter("user")), target: try Self.target(input))
        return Self.answer(ended)
    }

    private static func target(_ input: RequestInput) throws(ServiceError) -> LinkTarget {
        guard let kind = LinkTarget.Kind(rawValue: try input.parameter("kind")) else {
            let kinds = LinkTarget.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid([
                Violation(field: "kind", rule: "enum", message: "The kind of a link is one of \(kinds).")
            ])
        }
        return LinkTarget(kind, try input.parameter("value"))
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
