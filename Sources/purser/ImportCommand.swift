import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take over what was kept elsewhere, through the running daemon.",
        discussion: """
            Run it with --dry-run first; docs/migrate.md tells the rest. It can be broken off and run again: a line that was \
            taken changes nothing the second time.

            Exits with 0 when every line is imported, or was before; with 65 when some could not be, or the file is no such \
            list; with 66 when there is no such file; with 1 when the daemon does not take them, and 130 when interrupted, and \
            then names the line to go on with.
            """,
        subcommands: [Links.self, Receipts.self])

    /// The command `purser import links`.
    struct Links: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "links", abstract: "Take over which purchases belong to which users.",
            discussion: """
                The file is CSV with a header, or has a JSON object in each line: user, kind, value, and where known \
                environment, validFrom, validUntil, app.
                """)

        @OptionGroup var file: ImportOptions
        @OptionGroup var options: DaemonOptions

        func validate() throws { try file.validate(.links) }

        func run() async throws { try await file.run(.links, options.daemon) }
    }

    /// The command `purser import receipts`.
    struct Receipts: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "receipts",
            abstract: "Take over receipts of StoreKit 1, which tell purchases and whose they are.",
            discussion: """
                The file has a JSON object in each line, or is CSV with a header: receipt (Base64), and where known \
                user_identifier, country_code, identifier_for_vendor, ip_address, metadata, app. They are verified at once; Apple \
                is asked about them in the background, after all others.
                """)

        @OptionGroup var file: ImportOptions
        @OptionGroup var options: DaemonOptions

        func validate() throws { try file.validate(.receipts) }

        func run() async throws { try await file.run(.receipts, options.daemon) }
    }
}

/// What is imported, and how.
struct ImportOptions: ParsableArguments {
    @Argument(help: "The file; - is the standard input.")
    var file: String

    @Option(help: "The app of lines that name none.")
    var app: String?

    @Flag(help: "Tell what would happen and change nothing.")
    var dryRun = false

    @Option(name: .customLong("from"), help: "The first line that counts, as a run that was broken off names it.")
    var firstLine = 1

    @Flag(help: "End at the first line that cannot be imported.")
    var strict = false

    @Option(help: "A file to write, as CSV, which lines cannot be imported and why; one that exists is continued.")
    var report: String?

    @Option(
        help:
            "The most lines that go to the daemon at once: 1 to 1000 links (default 250), 1 to 100 receipts (default 25)."
    )
    var batch: Int?

    func validate(_ kind: ImportKind) throws {
        guard (1...kind.maximumBatch).contains(batch ?? kind.defaultBatch) else {
            throw ValidationError("--batch takes 1 to \(kind.maximumBatch) lines.")
        }
        guard firstLine >= 1 else { throw ValidationError("--from takes the number of a line; the first is 1.") }
    }

    func run(_ kind: ImportKind, _ daemon: RunningDaemon) async throws {
        var chosen = FileImportCommand.Options(kind, path: file)
        chosen.app = app
        chosen.isDryRun = dryRun
        chosen.firstLine = firstLine
        chosen.isStrict = strict
        chosen.report = report
        chosen.batch = batch ?? kind.defaultBatch
        let (start, options) = (ContinuousClock.now, chosen)
        let outcome = await Interruption.watching { interruption in
            var surface = FileImportCommand.Surface(
                tell: { FileHandle.standardError.write(Data("\($0)\n".utf8)) },
                elapsed: { start.duration(to: .now) },
                pause: { try await ContinuousClock().sleep(for: $0) })
            surface.isInterrupted = { interruption.isAsked }
            return await FileImportCommand(daemon: daemon, options: options, surface: surface).run()
        }
        try outcome.finish()
    }
}
