import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser callers`.
struct CallersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callers", abstract: "Work with the services that may call Purser.",
        subcommands: [
            Add.self, List.self, Show.self, Grant.self, Ungrant.self, Rotate.self, Bind.self, Unbind.self, Revoke.self,
            Remove.self, IssueKey.self, Hash.self,
        ])

    /// The command `purser callers add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a caller, and show its token this once.",
            discussion: """
                Every --scope is granted for every --app. A caller that a certificate, a user or a group stands for gets no \
                token unless --token asks for one.
                """)

        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "An app that it may ask about; may be repeated.")
        var app: [String] = []

        @Option(help: "What it may do, such as refunds:read; may be repeated.")
        var scope: [String] = []

        @Option(help: "A URI of its client certificate, such as a SPIFFE ID; may be repeated.")
        var certificate: [String] = []

        @Option(help: "The number of the user that it runs as, on this machine; may be repeated.")
        var uid: [UInt32] = []

        @Option(help: "The number of the group that it runs as, on this machine; may be repeated.")
        var gid: [UInt32] = []

        @Flag(inversion: .prefixedNo, help: "Whether to make a token.")
        var token: Bool?

        @Option(help: "After how many days the token ends. (default: never)")
        var expiresInDays: Int?

        @OptionGroup var options: DaemonOptions

        func validate() throws {
            if app.isEmpty != scope.isEmpty { throw ValidationError("--app and --scope go together.") }
            try TokenLifetime.validate(days: expiresInDays)
        }

        func run() async throws {
            var addition = CallersAdministrationCommand.Addition()
            (addition.app, addition.scopes, addition.certificates) = (app, scope, certificate)
            (addition.uids, addition.gids, addition.givesToken) = (uid, gid, token)
            addition.expiresInSeconds = TokenLifetime.seconds(days: expiresInDays)
            try await options.callers.add(name, addition).finish()
        }
    }

    /// The command `purser callers list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List every caller with what it may do and what proves it.")

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callers.list().finish() }
    }

    /// The command `purser callers show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one caller.")

        @Argument(help: "The caller's name.")
        var name: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callers.show(name).finish() }
    }

    /// What `grant` and `ungrant` take.
    struct GrantOptions: ParsableArguments {
        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "The app.")
        var app: String

        @Option(help: "A scope, such as refunds:read; may be repeated.")
        var scope: [String]

        @OptionGroup var options: DaemonOptions

        func run(isWithdrawn: Bool) async throws {
            try await options.callers.grant(name, app: app, scopes: scope, isWithdrawn: isWithdrawn).finish()
        }
    }

    /// The command `purser callers grant`.
    struct Grant: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "grant", abstract: "Allow a caller more of an app.")

        @OptionGroup var grant: GrantOptions

        func run() async throws { try await grant.run(isWithdrawn: false) }
    }

    /// The command `purser callers ungrant`.
    struct Ungrant: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ungrant", abstract: "Allow a caller less of an app.")

        @OptionGroup var grant: GrantOptions

        func run() async throws { try await grant.run(isWithdrawn: true) }
    }

    /// The command `purser callers rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Give a caller a new token, shown this once; the old one ends after a while.")

        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "For how many hours the old token stays usable. (default: as the configuration says)")
        var graceHours: Int?

        @Option(help: "After how many days the new token ends. (default: never)")
        var expiresInDays: Int?

        @OptionGroup var options: DaemonOptions

        func validate() throws {
            if let graceHours, !(0...720).contains(graceHours) {
                throw ValidationError("--grace-hours takes 0 to 720.")
            }
            try TokenLifetime.validate(days: expiresInDays)
        }

        func run() async throws {
            try await options.callers.rotate(
                name, graceSeconds: graceHours.map { $0 * 3600 },
                expiresInSeconds: TokenLifetime.seconds(days: expiresInDays)
            ).finish()
        }
    }

    /// What `bind` and `unbind` take.
    struct BindingOptions: ParsableArguments {
        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "A URI of its client certificate, such as a SPIFFE ID.")
        var certificate: String?

        @Option(help: "The number of a user on this machine.")
        var uid: UInt32?

        @Option(help: "The number of a group on this machine.")
        var gid: UInt32?

        @OptionGroup var options: DaemonOptions

        func validate() throws {
            if given.count != 1 { throw ValidationError("Give one of --certificate, --uid and --gid.") }
        }

        private var given: [(kind: String, value: String)] {
            [
                certificate.map { ("certificate", $0) }, uid.map { ("uid", "\($0)") }, gid.map { ("gid", "\($0)") },
            ].compactMap(\.self)
        }

        func run(isEnded: Bool) async throws {
            for (kind, value) in given {
                try await options.callers.bind(name, kind: kind, value: value, isEnded: isEnded).finish()
            }
        }
    }

    /// The command `purser callers bind`.
    struct Bind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "bind", abstract: "Let a client certificate, a user or a group stand for a caller.")

        @OptionGroup var binding: BindingOptions

        func run() async throws { try await binding.run(isEnded: false) }
    }

    /// The command `purser callers unbind`.
    struct Unbind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unbind", abstract: "Let a client certificate, a user or a group stand for a caller no more.")

        @OptionGroup var binding: BindingOptions

        func run() async throws { try await binding.run(isEnded: true) }
    }

    /// The command `purser callers revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a caller's token or key, at once and for good.")

        @Argument(help: "The caller's name.")
        var name: String

        @Argument(help: "What names the token (what it begins with after prs_) or the key.")
        var credential: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callers.revoke(name, credential).finish() }
    }

    /// The command `purser callers remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a caller with all that proves it, at once and for good.")

        @Argument(help: "The caller's name.")
        var name: String

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await options.callers.remove(name).finish() }
    }

    /// The command `purser callers issue-key`.
    struct IssueKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "issue-key",
            abstract: "Make a key with which a caller signs its own tokens, as Apple's libraries do.",
            discussion: """
                Writes the private key to a file that only you can read, and prints key id and issuer id. Without --scope the \
                key allows all that its caller may do with the app; a name that is not there yet is added with them.
                """)

        @Argument(help: "The caller's name.")
        var name: String

        @Option(help: "The app that the key is for.")
        var app: String

        @Option(help: "What the key allows, such as refunds:read; may be repeated.")
        var scope: [String] = []

        @Option(help: "The file to write; it must not exist. (default: NAME-APP.p8)")
        var out: String?

        @OptionGroup var options: DaemonOptions

        func run() async throws {
            try await CallerKeysCommand(daemon: options.daemon)
                .issue(caller: name, app: app, scopes: scope, to: out ?? "\(name)-\(app).p8")
                .finish()
        }
    }

    /// The command `purser callers hash`.
    struct Hash: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hash",
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

/// How long a token is usable, as options tell it.
private enum TokenLifetime {
    static func validate(days: Int?) throws {
        if let days, !(1...3660).contains(days) { throw ValidationError("--expires-in-days takes 1 to 3660.") }
    }

    static func seconds(days: Int?) -> Int? { days.map { $0 * 86_400 } }
}

extension DaemonOptions {
    fileprivate var callers: CallersAdministrationCommand { CallersAdministrationCommand(daemon: daemon) }
}
