import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Work with the keys that sign for Apple, through the running daemon.",
        discussion: "No command gives a key back. docs/keys.md tells a key's life, and a rotation step by step.",
        subcommands: [
            List.self, Show.self, Import.self, Check.self, Activate.self, Retire.self, Revoke.self, Delete.self,
            Rewrap.self,
        ])

    /// The command `purser keys list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List every key, those that sign first.")

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.list().finish() }
    }

    /// The command `purser keys show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Tell all that is known of a key.")

        @Argument(help: "The id of the key.")
        var keyID: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.show(keyID).finish() }
    }

    /// The command `purser keys import`.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Take a .p8 file in; the key stands by from then on.",
            discussion: """
                The daemon keeps the key sealed; remove the file afterwards. The name tells the id of the key \
                (AuthKey_ABC.p8, SubscriptionKey_ABC.p8, ABC.p8) unless --id does.
                """)

        @Argument(help: "The .p8 file; - is the standard input.")
        var file: String

        @Option(help: "Apple's id of the key.")
        var id: String?

        @Option(help: "The issuer id that App Store Connect shows above the keys.")
        var issuer: String

        @Option(help: "An app that the key signs for; may be repeated.")
        var app: [String]

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            try await options.signingKeys.importKey(from: file, keyID: id, issuerID: issuer, apps: app).finish()
        }
    }

    /// The command `purser keys check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Ask Apple whether it takes a key; exit with 1 if it does not.",
            discussion: "It passes if Apple takes it for each app in one environment at least. Nothing changes.")

        @Argument(help: "The id of the key.")
        var keyID: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.check(keyID).finish() }
    }

    /// The command `purser keys activate`.
    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate", abstract: "Make a key the one that signs; the one that did is retired.",
            discussion: "Apple is asked first. Activating the key before it is the way back.")

        @Argument(help: "The id of the key.")
        var keyID: String

        @Option(help: "One of the key's apps; may be repeated. Without it, all of them.")
        var app: [String] = []

        @Flag(help: "Do not ask Apple before.")
        var unchecked = false

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            try await options.signingKeys.activate(keyID, apps: app, unchecked: unchecked).finish()
        }
    }

    /// The command `purser keys retire`.
    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retire", abstract: "Take a key out of use that signs for no app; it can be activated again.")

        @Argument(help: "The id of the key.")
        var keyID: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.retire(keyID).finish() }
    }

    /// The command `purser keys revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Take a key out of use at once and for good; a standby key takes its place where there is one.")

        @Argument(help: "The id of the key.")
        var keyID: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.revoke(keyID).finish() }
    }

    /// The command `purser keys delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete an imported key that signs for no app.",
            discussion: """
                With --unreadable, the command works on the store of the configuration while no daemon runs, and deletes an imported \
                key or a callback's secret that no master key opens. The audit does not record it.
                """)

        @Argument(help: "The id of the key.")
        var keyID: String

        @Flag(help: "Delete a secret that does not open, without the daemon.")
        var unreadable = false

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            guard unreadable else { return try await options.signingKeys.delete(keyID).finish() }
            try await UnreadableSecretCommand(
                file: options.config, environment: ProcessInfo.processInfo.environment
            ).delete(keyID).finish()
        }
    }

    /// The command `purser keys rewrap`.
    struct Rewrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rewrap", abstract: "Seal every secret under another master key, while the daemon serves.",
            discussion: """
                A master key that the daemon keeps itself is drawn anew. One of yours: put the new key into the first line of its \
                file, before the old one, and run this.
                """)

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.signingKeys.rewrap().finish() }
    }
}

extension DaemonOptions {
    fileprivate var signingKeys: SigningKeysCommand { SigningKeysCommand(daemon: daemon) }
}
