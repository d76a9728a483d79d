import ArgumentParser
import Daemon
import Foundation

/// How to reach the running daemon.
struct DaemonOptions: ParsableArguments {
    @Option(name: [.customShort("c"), .long], help: "The configuration file, which names the admin socket.")
    var config = ConfigurationDefaults.file

    @Option(help: "The admin socket; the configuration file is then not read.")
    var socket: String?

    @Option(
        name: .customLong("as"),
        help: "Who you are: recorded beside your user id, which may be that of several people. Nobody checks it.")
    var operatorName: String?

    @Option(help: "How many seconds the daemon may take for an answer, where nothing longer is foreseen.")
    var timeout = RunningDaemon.usualTimeoutSeconds

    func validate() throws {
        guard (1...86_400).contains(timeout) else { throw ValidationError("--timeout takes 1 to 86400 seconds.") }
        guard operatorName.map(RunningDaemon.isOperatorName) ?? true else {
            throw ValidationError("--as takes 1 to 64 of A-Z, a-z, 0-9 and . _ - @ +.")
        }
    }

    var daemon: RunningDaemon {
        RunningDaemon(
            file: config, socket: socket, operatorName: operatorName, timeoutSeconds: timeout,
            environment: ProcessInfo.processInfo.environment)
    }
}

/// The command `purser backup`.
struct BackupSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Let the running daemon copy its store into a new file.",
        discussion: "The daemon goes on with its work. It writes the file itself, so it must be allowed to.")

    @Argument(help: "The file to write; it must not exist.")
    var file: String

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        let (file, daemon) = (file, options.daemon)
        try await LongWork.atTerminal.telling("The daemon copies its store") {
            await BackupCommand.run(to: file, daemon: daemon)
        }.finish()
    }
}

/// The command `purser restore`.
struct RestoreSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the store; the daemon must be stopped.",
        discussion: """
            Nothing is sent to Apple afterwards until `purser deliveries release`: the backup does not know what happened \
            since.
            """)

    @Argument(help: "The file that `purser backup` made.")
    var file: String

    @Option(name: [.customShort("c"), .long], help: "The configuration file, which names the store.")
    var config = ConfigurationDefaults.file

    @Flag(help: "Replace a store that is there; it is kept under another name.")
    var replace = false

    func run() throws {
        let command = OfflineStoreCommand(file: config, environment: ProcessInfo.processInfo.environment)
        try command.restore(from: file, replacing: replace).finish()
    }
}

/// The commands under `purser store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Work with the database.",
        discussion: "`purser backup` and `purser restore` are the same as those here.",
        subcommands: [Check.self, StoreMoveSubcommand.self, BackupSubcommand.self, RestoreSubcommand.self])

    /// The command `purser store check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Examine every page, index and reference of the store; exit with 1 if anything is wrong.",
            discussion: "The daemon does it, if it runs.")

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            let offline = OfflineStoreCommand(
                file: options.config, environment: ProcessInfo.processInfo.environment)
            let daemon = options.daemon
            try await LongWork.atTerminal.telling("The store is examined") {
                await StoreCheckCommand.run(daemon: daemon, otherwise: offline)
            }.finish()
        }
    }
}
