import ArgumentParser
import Daemon

/// A user of an app.
struct UserOptions: ParsableArguments {
    @Option(help: "The app, as the configuration calls it.")
    var app: String

    @Argument(help: "The user's id, as the company has it.")
    var user: String

    func path(_ names: String...) -> [String] { ["v1", "apps", app, "users", user] + names }
}

/// The commands under `purser users`.
struct UsersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "Look at what is known of a user, and erase it.",
        subcommands: [Show.self, Links.self, Consent.self, Erase.self])

    /// The command `purser users show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show links, consent, open cases and what Apple says of purchases.")

        @OptionGroup var user: UserOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(user.path())) }
    }

    /// The command `purser users links`.
    struct Links: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "links", abstract: "List which purchases are the user's.")

        @OptionGroup var user: UserOptions
        @OptionGroup var options: QueryOptions

        func run() async throws {
            try await options.ask(
                .list(
                    user.path("links"), of: "links",
                    [
                        .init("KIND", "kind"), .init("VALUE", "value"), .init("ENVIRONMENT", "environment"),
                        .init("SOURCE", "source"), .init("SINCE", "createdAt"), .init("UNTIL", "endedAt"),
                    ], limit: nil))
        }
    }

    /// The command `purser users consent`.
    struct Consent: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "consent", abstract: "Show what the user has agreed to, and withdrawn.")

        @OptionGroup var user: UserOptions
        @OptionGroup var options: QueryOptions

        func run() async throws { try await options.ask(.one(user.path("consent"))) }
    }

    /// The command `purser users erase`.
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase", abstract: "Remove everything that names the user, for good.")

        @OptionGroup var user: UserOptions
        @Flag(help: "That it is meant.")
        var yes = false
        @OptionGroup var options: QueryOptions

        func validate() throws {
            guard yes else { throw ValidationError("An erasure cannot be undone; say --yes.") }
        }

        func run() async throws { try await options.ask(.change(.delete, user.path())) }
    }
}

/// The command `purser refunds`.
struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds", abstract: "List what Apple has refunded to a user, the newest first.")

    @OptionGroup var user: UserOptions
    @Option(help: "The most entries.")
    var limit = 100
    @OptionGroup var options: QueryOptions

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit takes 1 to 100000.") }
    }

    func run() async throws {
        try await options.ask(
            .list(
                user.path("refunds"), of: "refunds",
                [
                    .init("TRANSACTION", "transactionId"), .init("PRODUCT", "payload.productId"),
                    .init("ENVIRONMENT", "environment"), .init("REVOKED", "payload.revocationDate"),
                    .init("REASON", "payload.revocationReason"),
                ], limit: limit))
    }
}

/// The commands under `purser consumption`.
struct ConsumptionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption", abstract: "Answer a refund request by hand.", subcommands: [Send.self])

    /// The command `purser consumption send`.
    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send", abstract: "Send consumption information about a case's purchase to Apple.",
            discussion: "Only with the customer's consent, which is asked for again before anything is sent.")

        @OptionGroup var record: RecordOptions
        @Flag(help: "That the customer has agreed to it.")
        var customerConsented = false
        @Option(help: "Apple's deliveryStatus, such as DELIVERED.")
        var deliveryStatus: String
        @Flag(inversion: .prefixedNo, help: "Whether the customer could try the content before.")
        var sampleContentProvided: Bool
        @Option(help: "How much was consumed, in thousandths of a percent: 0 to 100000.")
        var consumptionPercentage: Int?
        @Option(help: "DECLINE, GRANT_FULL or GRANT_PRORATED; without it that is left to Apple.")
        var refundPreference: String?
        @OptionGroup var options: QueryOptions

        func run() async throws {
            var body = OperatorQuery.Body()
            body.set("customerConsented", customerConsented)
            body.set("deliveryStatus", deliveryStatus)
            body.set("sampleContentProvided", sampleContentProvided)
            body.set("consumptionPercentage", consumptionPercentage)
            body.set("refundPreference", refundPreference)
            try await options.ask(.act(record.path("consumption", of: "cases"), body: body))
        }
    }
}
