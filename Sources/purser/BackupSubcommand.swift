import ArgumentParser
import Daemon

/// The command `purser backup`.
struct BackupSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Let the running daemon copy its store into a new file.",
        discussion: "The daemon goes on with its work. It writes the file itself, so it must be allowed to.")

    @Argument(help: "The file to write; it must not exist.")
    var file: String

    @OptionGroup var options: DaemonOptions

    func run() async throws { try await BackupCommand.run(to: file, daemon: options.daemon).finish() }
}
