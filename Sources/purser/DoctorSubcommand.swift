import ArgumentParser
import Daemon
import Foundation

/// The command `purser doctor`.
struct DoctorSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Ask Apple whether each app's key, clock and notification URL are right.",
        discussion: "Needs no running daemon. Exits with 1 if anything fails, and says what to do about it.")

    @Option(name: [.customShort("c"), .long], help: "The configuration file.")
    var config = "/etc/purser/purser.yaml"

    @Option(help: "Examine this app only.")
    var app: String?

    @Flag(help: "Do not let Apple send a test notification to each notification URL.")
    var skipTestNotifications = false

    func run() async throws {
        let outcome = await DoctorCommand.run(
            file: config, environment: ProcessInfo.processInfo.environment, app: app,
            sendsTestNotifications: !skipTestNotifications)
        try outcome.finish()
    }
}
