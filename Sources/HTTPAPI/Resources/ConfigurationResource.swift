import Domain
import JSON

/// The configuration of the running daemon, for operators.
struct ConfigurationRoutes: Sendable {
    let reloader: any ConfigurationReloader

    /// `POST /v1/configuration:reload`.
    func reload(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let reload = try await reloader.reload(by: input.actor)
        return Answer.object(capacity: 1024) { writer in
            writer.member("generation", reload.generation)
            writer.member("loadedAt", Timestamp.text(reload.loadedAt))
            writer.memberArray("changes") { writer in
                for change in reload.changes { writer.object { Self.write(change, to: &$0) } }
            }
            Self.write("needsRestart", reload.needsRestart, to: &writer)
            Self.write("warnings", reload.warnings, to: &writer)
        }
    }

    private static func write(_ change: ConfigurationReload.Change, to writer: inout JSONWriter) {
        writer.member("part", change.part)
        write("added", change.added, to: &writer)
        write("removed", change.removed, to: &writer)
        write("changed", change.changed, to: &writer)
    }

    private static func write(_ name: String, _ texts: [String], to writer: inout JSONWriter) {
        writer.memberArray(name) { writer in
            for text in texts { writer.value(text) }
        }
    }
}
