import ArgumentParser
import Daemon
import Foundation

/// The commands under `purser import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take over what was kept elsewhere, through the running daemon.",
        subcommands: [Links.self])

    /// The command `purser import links`.
    struct Links: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take over which purchases belong to which users.",
            discussion: """
                The file is CSV with a header, or has a JSON object in each line: user, kind, value, and where known \
                environment, validFrom, validUntil, app. Run it with --dry-run first; docs/migrate.md tells the rest. It can \
                be broken off and run again: a line that was taken changes nothing the second time.

                Exits with 0 when every line is imported, or was before; with 65 when some could not be, or the file is no \
                such list; with 66 when there is no such file; with 1 when the daemon does not take them, and 130 when \
                interrupted, and then names the line to go on with.
                """)

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

        @Option(help: "The most lines that go to the daemon at once, 1 to 1000.")
        var batch = ImportLinksCommand.Options.defaultBatch

        @OptionGroup var options: DaemonOptions

        func validate() throws {
            guard ImportLinksCommand.Options.batches.contains(batch) else {
                throw ValidationError("--batch takes 1 to 1000 lines.")
            }
            guard firstLine >= 1 else { throw ValidationError("--from takes the number of a line; the first is 1.") }
        }

        func run() async throws {
            var chosen = ImportLinksCommand.Options(path: file)
            chosen.app = app
            chosen.isDryRun = dryRun
            chosen.firstLine = firstLine
            chosen.isStrict = strict
            chosen.report = report
            chosen.batch = batch
            let (daemon, start, options) = (options.daemon, ContinuousClock.now, chosen)
            let outcome = await Interruption.watching { interruption in
                var surface = ImportLinksCommand.Surface(
                    tell: { FileHandle.standardError.write(Data("\($0)\n".utf8)) },
                    elapsed: { start.duration(to: .now) },
                    pause: { try await ContinuousClock().sleep(for: $0) })
                surface.isInterrupted = { interruption.isAsked }
                return await ImportLinksCommand(daemon: daemon, options: options, surface: surface).run()
            }
            try outcome.finish()
        }
    }
}
