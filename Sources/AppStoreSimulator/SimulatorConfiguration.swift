package import Foundation
package import Logging

/// How a simulator is started.
package struct SimulatorConfiguration: Sendable {
    package var production: ListenAddress
    package var sandbox: ListenAddress
    /// Must be on the loopback interface: whoever reaches it can do everything.
    package var control: ListenAddress
    /// A folder that keeps keys and certificates; nil makes new ones that nothing keeps.
    package var stateDirectory: String?
    /// Makes identifiers and random faults come out the same.
    package var seed: UInt64
    /// Real time, which the simulated time goes by.
    package var now: @Sendable () -> Date
    /// How faults delay answers.
    package var sleep: @Sendable (Duration) async throws -> Void
    package var logger: Logger

    /// A configuration with three free ports of the loopback interface, unless others are given.
    package init(
        production: ListenAddress = ListenAddress(host: "127.0.0.1", port: 0),
        sandbox: ListenAddress = ListenAddress(host: "127.0.0.1", port: 0),
        control: ListenAddress = ListenAddress(host: "127.0.0.1", port: 0), stateDirectory: String? = nil,
        seed: UInt64 = 1, now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        logger: Logger = Logger(label: "appstore-simulator", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.production = production
        self.sandbox = sandbox
        self.control = control
        self.stateDirectory = stateDirectory
        self.seed = seed
        self.now = now
        self.sleep = sleep
        self.logger = logger
    }
}
