import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser callers`.
struct CallersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callers", abstract: "Work with the services that may call the API.", subcommands: [Hash.self])

    /// The command `purser callers hash`.
    struct Hash: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a bearer token and the SHA-256 of it that belongs into the configuration.")

        @Flag(name: .customLong("stdin"), help: "Hash the token on the standard input instead of making one.")
        var readsStandardInput = false

        func run() throws {
            guard readsStandardInput else { return try CallersHashCommand.makeToken().finish() }
            let input = try FileHandle.standardInput.read(upToCount: CallersHashCommand.maximumInputBytes) ?? Data()
            try CallersHashCommand.hash(input: String(decoding: input, as: UTF8.self)).finish()
        }
    }
}
