import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser callers`.
struct CallersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callers", abstract: "Work with the services that may call Purser.",
        subcommands: [Hash.self, List.self, IssueKey.self, Revoke.self])

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

    /// The command `purser callers list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List every caller with its keys.")

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callerKeys.list().finish() }
    }

    /// The command `purser callers issue-key`.
    struct IssueKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "issue-key",
            abstract: "Make a key with which a caller uses Apple's libraries at an Apple-compatible proxy.",
            discussion: """
                Writes the private key to a file that only you can read, and prints key id and issuer id. A caller of the \
                configuration keeps the scopes that it has there; any other is given them with --scope.
                """)

        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "The app that the key is for.")
        var app: String

        @Option(help: "What the caller may do, such as refunds:read; may be repeated.")
        var scope: [String] = []

        @Option(help: "The file to write; it must not exist. (default: NAME-APP.p8)")
        var out: String?

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            try await options.callerKeys.issue(caller: name, app: app, scopes: scope, to: out ?? "\(name)-\(app).p8")
                .finish()
        }
    }

    /// The command `purser callers revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a caller's key, at once and for good.")

        @Argument(help: "The caller's name.")
        var name: String

        @Argument(help: "The id of the key.")
        var keyID: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callerKeys.revoke(caller: name, keyID: keyID).finish() }
    }
}

extension DaemonOptions {
    fileprivate var callerKeys: CallerKeysCommand { CallerKeysCommand(daemon: daemon) }
}
