import ArgumentParser
import Daemon
import Foundation

/// The command `purser status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Tell how the running daemon is, part by part.",
        discussion: "With --output json the whole report, as at /healthz.", aliases: ["health"])

    @OptionGroup var options: QueryOptions

    func run() async throws {
        try await options.ask(
            .list(
                ["healthz"], of: "parts",
                [.init("PART", "name"), .init("HEALTHY", "healthy"), .init("DETAIL", "detail")], limit: nil))
    }
}

/// The command `purser apps`.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "List the apps with their keys.")

    @OptionGroup var options: QueryOptions

    func run() async throws {
        try await options.ask(
            .list(
                ["v1", "apps"], of: "apps",
                [.init("APP", "app"), .init("BUNDLE", "bundleId"), .init("ENVIRONMENTS", "environments")], limit: nil))
    }
}

/// The command `purser limits`.
struct LimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits", abstract: "Show what is left of Apple's rate limits in this hour.")

    @Option(help: "The app, as the configuration calls it.")
    var app: String
    @OptionGroup var options: QueryOptions

    func run() async throws {
        try await options.ask(
            .list(
                ["v1", "apps", app, "limits"], of: "limits",
                [
                    .init("ENDPOINT", "endpoint"), .init("ENVIRONMENT", "environment"), .init("LIMIT", "limit"),
                    .init("USED", "used"), .init("REMAINING", "remaining"), .init("BLOCKED UNTIL", "blockedUntil"),
                ], limit: nil))
    }
}

/// The command `purser events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Show what happened to notifications, cases and deliveries, the oldest first.",
        discussion: "With --output json an event a line.")

    @Option(help: "The app, as the configuration calls it.")
    var app: String
    @Option(help: "Those since a time, such as 2026-01-31T00:00:00Z; without it all that are kept.")
    var from: String?
    @Flag(help: "Go on with what happens from now on, until interrupted.")
    var follow = false
    @OptionGroup var options: QueryOptions

    func run() async throws {
        let events = EventFollower(daemon: options.daemon.daemon, format: options.output)
        try await events.run(app: app, from: from, isEndless: follow) { line in
            // At once, also where a program reads along.
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }.finish()
    }
}
