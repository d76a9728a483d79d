import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser audit`.
struct AuditSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show and verify what was done with keys, tokens, callers and users.",
        discussion: "Reads the files of the audit, so it takes root or the daemon's user; no daemon need run.",
        subcommands: [List.self, Export.self, Verify.self])

    /// Where the audit is.
    struct Place: ParsableArguments {
        @Option(name: [.customShort("c"), .long], help: "The configuration file, which names the audit's directory.")
        var config = ConfigurationDefaults.file

        @Option(help: "The audit's directory; the configuration file is then not read for it.")
        var directory: String?

        func command(masterKey: String? = nil) -> AuditCommand {
            AuditCommand(
                AuditCommand.Source(
                    file: config, directory: directory, masterKey: masterKey,
                    environment: ProcessInfo.processInfo.environment))
        }
    }

    /// Which records are wanted.
    struct Filter: ParsableArguments {
        @Option(help: "Records since a time (RFC 3339), or of the last 90s, 30m, 24h, 7d.")
        var since: String?

        @Option(help: "Records of one action, such as tokenHandedOut.")
        var action: String?

        @Option(help: "Records by somebody, or about that caller: caller:shop, operator:1000, daemon, or a name.")
        var actor: String?

        @Option(help: "Records about one app.")
        var app: String?

        @Option(help: "Records about one key, by Apple's key id.")
        var key: String?

        @Option(help: "Records about one user of --app; the running daemon knows which those are.")
        var user: String?

        @Option(help: "Records about the user of this pseudonym.")
        var pseudonym: String?

        @Option(help: "The admin socket, for --user; the configuration file is then not read for it.")
        var socket: String?

        func validate() throws {
            guard AuditFilter(since: since) != nil else {
                throw ValidationError("--since takes a time such as 2026-05-01T12:00:00Z, or 90s, 30m, 24h, 7d.")
            }
            guard user == nil || app != nil else { throw ValidationError("--user needs --app.") }
        }

        /// What the options say; nil when nobody can be meant.
        func filter(config: String) async throws -> AuditFilter? {
            var pseudonym = pseudonym
            if let user, let app {
                let daemon = RunningDaemon(
                    file: config, socket: socket, environment: ProcessInfo.processInfo.environment)
                do throws(AuditLookUpError) {
                    let found = try await AuditPseudonymCommand.pseudonym(of: user, app: app, daemon: daemon).get()
                    guard let found else { return nil }
                    pseudonym = found
                } catch {
                    try error.outcome.finish()
                }
            }
            return AuditFilter(
                since: since, action: action, actor: actor, app: app, keyID: key, pseudonym: pseudonym)
        }
    }

    /// The command `purser audit list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the newest records, one a line.")

        @OptionGroup var place: Place
        @OptionGroup var filter: Filter

        @Option(help: "How many at most.")
        var limit = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is at least 1.") }
        }

        func run() async throws {
            guard let filter = try await filter.filter(config: place.config) else { return }
            try await place.command().list(filter, limit: limit).finish()
        }
    }

    /// The command `purser audit export`.
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Write records to the standard output as they are: a line of JSON each.")

        @OptionGroup var place: Place
        @OptionGroup var filter: Filter

        func run() async throws {
            guard let filter = try await filter.filter(config: place.config) else { return }
            try await place.command().export(filter) { try FileHandle.standardOutput.write(contentsOf: Data($0)) }
                .finish()
        }
    }

    /// The command `purser audit verify`.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract:
                "Find out whether records were changed, removed, put in, moved or cut off; exit with 1 if any was.",
            discussion: """
                What was cut off the end shows only beside what the daemon has logged each minute:
                journalctl -u purser -g 'Audit head' -o cat | purser audit verify --journal -
                """)

        @OptionGroup var place: Place

        @Option(help: "The file of the master key, where it is not that of the configuration.")
        var masterKey: String?

        @Option(help: "A file with lines of the daemon's log, in any format; - for the standard input.")
        var journal: [String] = []

        func run() throws {
            var lines: [String] = []
            for file in journal {
                let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
                guard let handle, let data = try handle.readToEnd() ?? Data() as Data? else {
                    throw ValidationError("\(file) cannot be read.")
                }
                lines += String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
            }
            try place.command(masterKey: masterKey).verify(journal: lines).finish()
        }
    }
}
