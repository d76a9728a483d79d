import ArgumentParser
import Daemon

/// The commands under `purser deliveries`.
struct DeliveriesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "Work with the answers on their way to Apple.",
        subcommands: [Release.self])

    /// The command `purser deliveries release`.
    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the daemon send again after its store came from a backup.",
            discussion: """
                A backup does not know what happened since: first record again who has withdrawn consent, and cancel what \
                should not be sent.
                """)

        @OptionGroup var options: DaemonOptions

        func run() async throws { try await ReleaseCommand.run(daemon: options.daemon).finish() }
    }
}
