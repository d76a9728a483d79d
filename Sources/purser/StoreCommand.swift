import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Work with the database.", subcommands: [Check.self])

    /// The command `purser store check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Examine every page, index and reference of the store; exit with 1 if anything is wrong.",
            discussion: "The daemon does it, if it runs.")

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            let offline = OfflineStoreCommand(
                file: options.config, environment: ProcessInfo.processInfo.environment)
            try await StoreCheckCommand.run(daemon: options.daemon, otherwise: offline).finish()
        }
    }
}
