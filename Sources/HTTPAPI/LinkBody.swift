import Domain
import JSON

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
