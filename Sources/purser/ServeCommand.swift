import ArgumentParser
import Daemon
import Foundation

/// The command `purser serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the daemon.",
        discussion: "Flags win over the environment (PURSER_…), which wins over the file.")

    @Option(name: [.customShort("c"), .long], help: "The configuration file.")
    var config = "/etc/purser/purser.yaml"

    @Option(help: "Overrides `store`, such as sqlite:/var/lib/purser/purser.db.")
    var store: String?

    @Option(help: "Overrides `log.level`.")
    var logLevel: String?

    func run() async throws {
        let flags = ConfigurationFlags(store: store, logLevel: logLevel)
        let outcome = await Serve.run(
            file: config, flags: flags, environment: ProcessInfo.processInfo.environment)
        try outcome.finish()
    }
}
