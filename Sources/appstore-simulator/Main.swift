import AppStoreSimulator
import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore-simulator",
        abstract: "Plays Apple's App Store Server API for tests, demos and staging. Not for production.",
        discussion: """
            Prints one line of JSON with its addresses when it listens, and stops on SIGTERM or SIGINT. \
            What it plays is set at the control port; see docs/simulator.md.
            """)

    @Option(help: "Where to play the production server (HOST:PORT; port 0 finds a free one).")
    var production = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: "Where to play the sandbox server.")
    var sandbox = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: "Where to listen for control; on the loopback interface only.")
    var control = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: "A folder that keeps keys and certificates; without it they are new each time.")
    var state: String?

    @Option(help: "Makes identifiers and random faults come out the same; drawn and printed unless given.")
    var seed: UInt64?

    @Option(help: "A file to write the line of JSON to.")
    var readyFile: String?

    mutating func run() async throws {
        var logger = Logger(label: "appstore-simulator", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .warning
        let simulator = try await Simulator.start(
            SimulatorConfiguration(
                production: production, sandbox: sandbox, control: control, stateDirectory: state,
                seed: seed ?? .random(in: 0...UInt64(Int64.max)),
                logger: logger))
        // Not `print`, whose buffer would keep the line from whoever waits for it at the other end of a pipe.
        try FileHandle.standardOutput.write(contentsOf: Data((simulator.announcement + "\n").utf8))
        if let readyFile { try simulator.announce(inFile: readyFile) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [simulator], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}

extension ListenAddress: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { "\(host):\(port)" }
}
