import ArgumentParser
import Daemon

/// The commands under `purser callbacks`, which operators need when a receiver fails.
///
/// Services make their callbacks themselves.
struct CallbacksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callbacks", abstract: "Work with the URLs that are told what happens.",
        subcommands: [List.self, Show.self, Attempts.self, Test.self, Pause.self, Activate.self, Replay.self])

    /// The command `purser callbacks list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List an app's callbacks, and how they fare.")

        @Option(help: "The app, as the configuration calls it.")
        var app: String
        @OptionGroup var options: QueryOptions

        func run() async throws {
            try await options.ask(
                .list(
                    ["v1", "apps", app, "callbacks"], of: "callbacks",
                    [
                        .init("ID", "id"), .init("STATE", "state"), .init("REASON", "pauseReason"),
                        .init("WAITING", "waiting"), .init("FAILING SINCE", "failingSince"), .init("URL", "url"),
                    ], limit: nil))
        }
    }

    /// The command `purser callbacks show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a callback; its secret is not among it.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(record.path(of: "callbacks"))) }
    }

    /// The command `purser callbacks attempts`.
    struct Attempts: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attempts", abstract: "List what was posted and what came of it, the latest first.")

        @OptionGroup var record: RecordOptions
        @Option(help: "The most entries, 1 to 200.")
        var limit = 50
        @OptionGroup var options: QueryOptions

        func validate() throws {
            guard (1...200).contains(limit) else { throw ValidationError("--limit takes 1 to 200.") }
        }

        func run() async throws {
            try await options.ask(
                .list(
                    record.path("attempts", of: "callbacks"), [("limit", "\(limit)")], of: "attempts",
                    [
                        .init("STARTED", "startedAt"), .init("TYPE", "type"), .init("STATUS", "status"),
                        .init("RECEIVED", "received"), .init("MILLISECONDS", "milliseconds"),
                        .init("FAILURE", "failure"),
                    ], limit: nil))
        }
    }

    /// The command `purser callbacks test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Post a test at once, and tell what came of it.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.act(record.path(of: "callbacks"), verb: "test")) }
    }

    /// The command `purser callbacks pause`.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Post nothing more until it is activated; what happens meanwhile is kept.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(CallbacksCommand.setting("paused", of: record)) }
    }

    /// The command `purser callbacks activate`.
    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate", abstract: "Let a paused callback go on where it was.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(CallbacksCommand.setting("active", of: record)) }
    }

    /// The command `purser callbacks replay`.
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay", abstract: "Post again what has happened since a time.",
            discussion: "A paused callback becomes active.")

        @OptionGroup var record: RecordOptions
        @Option(help: "A time, such as 2026-01-31T00:00:00Z.")
        var from: String
        @OptionGroup var options: QueryOptions

        func run() async throws {
            var body = OperatorQuery.Body()
            body.set("from", from)
            try await options.ask(.act(record.path(of: "callbacks"), verb: "replay", body: body))
        }
    }

    private static func setting(_ state: String, of record: RecordOptions) -> OperatorQuery {
        var body = OperatorQuery.Body()
        body.set("state", state)
        return .change(.patch, record.path(of: "callbacks"), body: body)
    }
}
