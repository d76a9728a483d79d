import ArgumentParser
import Daemon
import Foundation

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
    var config = "/etc/purser/purser.yaml"

    @Flag(help: "Replace a store that is there; it is kept under another name.")
    var replace = false

    func run() throws {
        let command = OfflineStoreCommand(file: config, environment: ProcessInfo.processInfo.environment)
        try command.restore(from: file, replacing: replace).finish()
    }
}
