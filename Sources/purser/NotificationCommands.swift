import ArgumentParser
import Daemon

/// The commands under `purser notifications`.
struct NotificationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications", abstract: "Work with what Apple has told.",
        subcommands: [List.self, Show.self, Replay.self, Test.self])

    /// The command `purser notifications list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List notifications, the latest first.")

        @OptionGroup var which: ListOptions
        @Option(help: "Those of a type, such as REFUND.")
        var type: String?
        @Option(help: "Those about a transaction.")
        var transaction: String?
        @Option(help: "Those that came since a time, such as 2026-01-31T00:00:00Z.")
        var since: String?
        @OptionGroup var options: QueryOptions

        func run() async throws {
            try await options.ask(
                .list(
                    which.path("notifications"),
                    [
                        ("type", type), ("transactionId", transaction), ("since", since),
                        ("environment", which.environment),
                    ], of: "notifications",
                    [
                        .init("UUID", "notificationUUID"), .init("TYPE", "notificationType"),
                        .init("SUBTYPE", "subtype"),
                        .init("ENVIRONMENT", "environment"), .init("RECEIVED", "receivedAt"),
                        .init("APPLIED", "processedAt"),
                    ], limit: which.limit))
        }
    }

    /// The command `purser notifications show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a notification, decoded.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(record.path(of: "notifications"))) }
    }

    /// The command `purser notifications replay`.
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Apply a notification at once that could not be applied and waits for its next try.",
            discussion: "One that is applied already changes nothing.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.act(record.path(of: "notifications"), verb: "replay")) }
    }

    /// The command `purser notifications test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Have Apple send a test notification to the app's notification URL.")

        @Option(help: "The app, as the configuration calls it.")
        var app: String
        @Option(help: "Production or Sandbox.")
        var environment: String
        @OptionGroup var options: QueryOptions

        func run() async throws {
            try await options.ask(
                .act(["v1", "apps", app, "testNotifications"], [("environment", environment)]))
        }
    }
}

/// The commands under `purser quarantine`.
struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Work with notifications that do not verify as an app's.",
        subcommands: [List.self, Show.self, Retry.self])

    /// The command `purser quarantine list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List them, of all apps, the oldest first.")

        @Option(help: "The most entries.")
        var limit = 100
        @OptionGroup var options: QueryOptions

        func validate() throws {
            guard (1...100_000).contains(limit) else { throw ValidationError("--limit takes 1 to 100000.") }
        }

        func run() async throws {
            try await options.ask(
                .list(
                    ["v1", "quarantine"], of: "notifications",
                    [
                        .init("ID", "id"), .init("APP", "app"), .init("UUID", "notificationUUID"),
                        .init("ENVIRONMENT", "environment"),
                        .init("RECEIVED", "receivedAt"), .init("KEPT UNTIL", "keptUntil"), .init("FAULT", "fault"),
                    ], limit: limit))
        }
    }

    /// The command `purser quarantine show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one, with the app that it says it is about, to be compared with the configuration.")

        @Argument(help: "Its id, as the list has it.")
        var id: String
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(["v1", "quarantine", id])) }
    }

    /// The command `purser quarantine retry`.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Verify all of them anew, now.")

        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.act(["v1", "quarantine"], verb: "retry")) }
    }
}
