import ArgumentParser
import Daemon

/// The command `purser version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version.")

    func run() {
        print("purser \(Version.text)")
    }
}
