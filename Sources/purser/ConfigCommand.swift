import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser config`.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Work with the configuration.", subcommands: [Check.self])

    /// The command `purser config check`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a configuration file and every file that it names; exit with 78 if anything is wrong.")

        @Argument(help: "The configuration file.")
        var file = "/etc/purser/purser.yaml"

        func run() throws {
            try ConfigCheckCommand.run(file: file, environment: ProcessInfo.processInfo.environment).finish()
        }
    }
}
