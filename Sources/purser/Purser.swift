import ArgumentParser
import Daemon
import Foundation

/// The program: each command parses its arguments and calls one function of `Daemon`.
@main
struct Purser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purser",
        abstract: "The one service in a company that talks to Apple's App Store Server API.",
        version: Version.report,
        subcommands: [
            ServeCommand.self, ReloadSubcommand.self, ConfigCommand.self, VersionCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Look and repair",
                subcommands: [
                    StatusCommand.self, DoctorSubcommand.self, AppsCommand.self, LimitsCommand.self, CasesCommand.self,
                    DeliveriesCommand.self, ConsumptionCommand.self, NotificationsCommand.self, QuarantineCommand.self,
                    EventsCommand.self, CallbacksCommand.self, UsersCommand.self, RefundsCommand.self,
                ]),
            CommandGroup(name: "Call as a service does", subcommands: [CallSubcommand.self]),
            CommandGroup(
                name: "Keys, callers and records",
                subcommands: [KeysCommand.self, CallersCommand.self, AuditSubcommand.self]),
            CommandGroup(
                name: "The database",
                subcommands: [
                    StoreCommand.self, BackupSubcommand.self, RestoreSubcommand.self, ImportCommand.self,
                ]),
        ])

    /// Protects the process before any command runs, so that no command can forget to.
    static func main() async {
        do {
            try ProcessProtection.ensure()
        } catch {
            FileHandle.standardError.write(Data("Keys cannot be protected here: \(error)\n".utf8))
            exit(withError: ExitCode.failure)
        }
        // What parses arguments quotes those that it does not know.
        guard !CommandLine.arguments.contains(where: { $0.contains("-----BEGIN") }) else {
            let text = """
                An argument holds a key. Arguments are visible to every user of the machine: replace the key, and give the name \
                of its file, or `-` for the standard input.

                """
            FileHandle.standardError.write(Data(text.utf8))
            exit(withError: ExitCode.validationFailure)
        }
        await main(nil)
    }
}

extension CommandOutcome {
    /// Says what there is to say.
    ///
    /// - Throws: `ExitCode` unless all is well.
    func finish() throws {
        FileHandle.standardOutput.write(Data(output.utf8))
        FileHandle.standardError.write(Data(errorOutput.utf8))
        guard status == .success else { throw ExitCode(status.rawValue) }
    }
}

/// The command `purser serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the daemon.",
        discussion: "Flags win over the environment (PURSER_…), which wins over the file.")

    @Option(name: [.customShort("c"), .long], help: "The configuration file.")
    var config = ConfigurationDefaults.file

    @Option(help: "Overrides `store`, such as sqlite:/var/lib/purser/purser.db.")
    var store: String?

    @Option(help: "Overrides `log.level`.")
    var logLevel: String?

    @Option(
        name: .customLong("accept-new-master-key"),
        help: ArgumentHelp(
            "Start although the master key of this id is lost; may be repeated.",
            discussion: "The refusal of the start prints the id. Secrets under that key stay in the store, unreadable.",
            valueName: "old-key-id"))
    var acceptedLosses: [String] = []

    func validate() throws {
        for id in acceptedLosses where id.utf8.count != 16 || !id.utf8.allSatisfy(Self.hexadecimalDigits.contains) {
            throw ValidationError("The id of a master key has 16 hexadecimal digits in lower case.")
        }
    }

    private static let hexadecimalDigits = Set("0123456789abcdef".utf8)

    func run() async throws {
        let flags = ConfigurationFlags(store: store, logLevel: logLevel)
        let outcome = await Serve.run(
            file: config, flags: flags, environment: ProcessInfo.processInfo.environment,
            acceptedMasterKeyLosses: acceptedLosses)
        try outcome.finish()
    }
}

/// The command `purser reload`.
struct ReloadSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Let the running daemon read its configuration anew, and wait for it.",
        discussion: """
            The new one is taken whole or not at all: exits with 0 when it is in force, with 78 and every problem when it is \
            wrong and the one before stays, with 1 when the daemon cannot be asked. What needs a restart is said.
            """)

    @OptionGroup var options: QueryOptions

    func run() async throws {
        try await ReloadCommand.run(daemon: options.daemon.daemon, format: options.output).finish()
    }
}

/// The command `purser version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version, and those of the libraries that it has found.")

    func run() {
        print(Version.report)
    }
}

/// The commands under `purser config`.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Work with the configuration.", subcommands: [Check.self, Show.self])

    /// The command `purser config check`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a configuration file and every file that it names; exit with 78 if anything is wrong.")

        @Argument(help: "The configuration file.")
        var file = ConfigurationDefaults.file

        func run() throws {
            try ConfigCheckCommand.run(file: file, environment: ProcessInfo.processInfo.environment).finish()
        }
    }

    /// The command `purser config show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show every setting as it is in force, and where it was given.")

        @Argument(help: "The configuration file.")
        var file = ConfigurationDefaults.file

        @Option(name: .shortAndLong, help: "table, for people, or json, for programs.")
        var output = OperatorQuery.Format.table

        func run() throws {
            try ConfigShowCommand.run(
                file: file, environment: ProcessInfo.processInfo.environment, format: output
            ).finish()
        }
    }
}

/// The command `purser doctor`.
struct DoctorSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Ask Apple whether each app's key, clock and notification URL are right.",
        discussion: "Needs no running daemon. Exits with 1 if anything fails, and says what to do about it.")

    @Option(name: [.customShort("c"), .long], help: "The configuration file.")
    var config = ConfigurationDefaults.file

    @Option(help: "Examine this app only.")
    var app: String?

    @Flag(help: "Do not let Apple send a test notification to each notification URL.")
    var skipTestNotifications = false

    func run() async throws {
        let outcome = await DoctorCommand.run(
            file: config, environment: ProcessInfo.processInfo.environment, app: app,
            sendsTestNotifications: !skipTestNotifications)
        try outcome.finish()
    }
}
