import ArgumentParser
import Daemon
import Foundation

/// The program: each command parses its arguments and calls one function of `Daemon`.
@main
struct Purser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purser",
        abstract: "The one service in a company that talks to Apple's App Store Server API.",
        subcommands: [
            ServeCommand.self, ConfigCommand.self, CallersCommand.self, DeliveriesCommand.self, BackupSubcommand.self,
            RestoreSubcommand.self, StoreCommand.self, DoctorSubcommand.self, VersionCommand.self,
        ])
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
