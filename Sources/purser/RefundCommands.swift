import ArgumentParser
import Daemon

/// The commands under `purser cases`.
struct CasesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cases", abstract: "Work with the refund requests that Apple asks about.",
        subcommands: [List.self, Show.self, Decline.self])

    /// The command `purser cases list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List refund requests, the soonest deadline first.")

        @OptionGroup var which: ListOptions
        @Option(help: "open, answered, declined, expired or decided; may be given more than once.")
        var state: [String] = []
        @Option(help: "Those of a user.")
        var user: String?
        @Option(help: "Those of a transaction.")
        var transaction: String?
        @OptionGroup var options: QueryOptions

        func run() async throws {
            let filters =
                state.map { ("state", Optional($0)) } + [
                    ("user", user), ("transactionId", transaction), ("environment", which.environment),
                ]
            try await options.ask(
                .list(
                    which.path("cases"), filters, of: "cases",
                    [
                        .init("ID", "id"), .init("STATE", "state"), .init("DEADLINE", "deadline"),
                        .init("TRANSACTION", "transactionId"), .init("PRODUCT", "purchase.productId"),
                        .init("USER", "owner"),
                        .init("OUTCOME", "outcome"),
                    ], limit: which.limit))
        }
    }

    /// The command `purser cases show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a refund request with its answers.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(record.path(of: "cases"))) }
    }

    /// The command `purser cases decline`.
    struct Decline: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decline", abstract: "Decide that a refund request gets no answer.")

        @OptionGroup var record: RecordOptions
        @Option(help: "Why, for those who look later.")
        var note: String?
        @OptionGroup var options: QueryOptions

        func run() async throws {
            var body = OperatorQuery.Body()
            body.set("note", note)
            let path = record.path(of: "cases")
            try await options.ask(.act(path, verb: "decline", body: body))
        }
    }
}

/// The commands under `purser deliveries`.
struct DeliveriesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "Work with the answers on their way to Apple.",
        subcommands: [List.self, Show.self, Cancel.self, Release.self])

    /// The command `purser deliveries list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List answers, the latest first.")

        @OptionGroup var which: ListOptions
        @Option(help: "queued, sending, accepted, refused, expired or cancelled; may be given more than once.")
        var state: [String] = []
        @Option(help: "Those about a transaction.")
        var transaction: String?
        @OptionGroup var options: QueryOptions

        func run() async throws {
            let filters =
                state.map { ("state", Optional($0)) } + [
                    ("transactionId", transaction), ("environment", which.environment),
                ]
            try await options.ask(
                .list(
                    which.path("deliveries"), filters, of: "deliveries",
                    [
                        .init("ID", "id"), .init("STATE", "state"), .init("DEADLINE", "deadline"),
                        .init("TRANSACTION", "transactionId"), .init("CALLER", "caller"),
                        .init("ATTEMPTS", "attemptCount"),
                        .init("FAILURE", "failure.reason"),
                    ], limit: which.limit))
        }
    }

    /// The command `purser deliveries show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show an answer with its attempts.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(record.path(of: "deliveries"))) }
    }

    /// The command `purser deliveries cancel`.
    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel", abstract: "Keep an answer from being sent, if it is not on its way.")

        @OptionGroup var record: RecordOptions
        @OptionGroup var options: QueryOptions

        func run() async throws {
            let path = record.path(of: "deliveries")
            try await options.ask(.act(path, verb: "cancel"))
        }
    }

    /// The command `purser deliveries release`.
    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "release", abstract: "Let the daemon send again after its store came from a backup.",
            discussion: """
                A backup does not know what happened since: first record again who has withdrawn consent, and cancel what \
                should not be sent.
                """)

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await ReleaseCommand.run(daemon: options.daemon).finish() }
    }
}
