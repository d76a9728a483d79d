import Foundation
import TestSupport

// Commands of the program, next to a daemon.

extension DaemonStage {
    /// Runs a command with this configuration.
    func command(_ arguments: String...) async throws -> ChildProcess.Outcome { try await command(arguments) }

    /// Runs a command with this configuration.
    func command(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await Self.purser(arguments + ["--config", configuration])
    }

    /// Runs a command, which waits for the daemon's answer however busy the machine is.
    static func purser(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        let patience = ["callers", "keys"].contains(arguments.first) ? ["--timeout", "3600"] : []
        return try await program(arguments + patience)
    }

    /// Runs a command as it is.
    static func program(_ arguments: [String], input: String = "") async throws -> ChildProcess.Outcome {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        return try await ChildProcess.run([program.path] + arguments, input: input)
    }
}
