import ArgumentParser
import Daemon
import Foundation

/// How to reach the running daemon.
struct DaemonOptions: ParsableArguments {
    @Option(name: [.customShort("c"), .long], help: "The configuration file, which names the admin socket.")
    var config = "/etc/purser/purser.yaml"

    @Option(help: "The admin socket; the configuration file is then not read.")
    var socket: String?

    var daemon: RunningDaemon {
        RunningDaemon(file: config, socket: socket, environment: ProcessInfo.processInfo.environment)
    }
}
