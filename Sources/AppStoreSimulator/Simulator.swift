package import Foundation
import JSON
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import OpenSSL
import ServiceLifecycle

/// The App Store Server API, played: two servers and a control port, listening.
package final class Simulator: Service, Sendable {
    /// What the simulator knows; the control port and callers in the same process change it.
    package let state: SimulatorState
    /// Signs transactions and notifications.
    package let authority: SigningAuthority
    /// Issues receipts that end in the root.
    package let receipts: ReceiptIssuer
    /// The root of the certificates that sign transactions and receipts: what a client pins in place of Apple's.
    package let root: Certificate
    /// The authority of the servers' TLS certificates.
    package let tlsAuthority: Certificate
    /// The folder with keys and certificates, if one was given.
    package let stateDirectory: String?
    package let seed: UInt64
    private let production: HTTPListener
    private let sandbox: HTTPListener
    private let control: HTTPListener
    /// Sends notifications.
    private let dispatcher: Task<Void, Never>

    private var listeners: [HTTPListener] { [production, sandbox, control] }

    /// Starts listening.
    ///
    /// - Throws: ``ControlError`` for a control port that others could reach, and whatever the system says against addresses or folder.
    package static func start(_ configuration: SimulatorConfiguration) async throws -> Simulator {
        guard configuration.control.isLoopback else {
            throw ControlError.invalid("the control port must be on the loopback interface")
        }
        // Clients judge TLS certificates by the real time, whatever the simulated one is.
        let realTime = Date()
        let certificates: CertificateSet
        if let path = configuration.stateDirectory {
            certificates = try CertificateSet(
                keptIn: StateDirectory(path), signingTime: configuration.now(), realTime: realTime)
        } else {
            certificates = try CertificateSet(signingTime: configuration.now(), realTime: realTime)
        }
        let state = SimulatorState(seed: configuration.seed, realTime: configuration.now)
        var started: [HTTPListener] = []
        do {
            let tls = try certificates.tls.serverConfiguration(at: realTime)
            for (environment, address) in [
                (SimulatedEnvironment.production, configuration.production), (.sandbox, configuration.sandbox),
            ] {
                let service = AppleService(
                    environment: environment, state: state, authority: certificates.signing, now: configuration.now,
                    sleep: configuration.sleep)
                started.append(
                    try await HTTPListener.start(
                        on: address, tls: tls, maximumBodyBytes: AppleService.maximumImageBytes,
                        now: { state.clock.now }, logger: configuration.logger, service: service.deliver))
            }
            let control = ControlService(
                state: state, authority: certificates.signing, receipts: certificates.receipts,
                tlsAuthority: certificates.tls.certificate)
            started.append(
                try await HTTPListener.start(
                    on: configuration.control, tls: nil, maximumBodyBytes: ControlService.maximumBodyBytes,
                    now: { state.clock.now }, logger: configuration.logger,
                    service: { .response(control.respond(to: $0)) }))
        } catch {
            for listener in started { await listener.stop() }
            throw error
        }
        let dispatcher = NotificationDispatcher(
            state: state, authority: certificates.signing, sender: NotificationSender(), logger: configuration.logger)
        return Simulator(state, certificates, configuration, started, Task { await dispatcher.run() })
    }

    private init(
        _ state: SimulatorState, _ certificates: CertificateSet, _ configuration: SimulatorConfiguration,
        _ listeners: [HTTPListener], _ dispatcher: Task<Void, Never>
    ) {
        self.dispatcher = dispatcher
        self.state = state
        authority = certificates.signing
        receipts = certificates.receipts
        root = certificates.signing.root
        tlsAuthority = certificates.tls.certificate
        stateDirectory = configuration.stateDirectory
        seed = configuration.seed
        (production, sandbox, control) = (listeners[0], listeners[1], listeners[2])
    }

    /// Where one of Apple's servers is played: scheme, host and port.
    package func baseURL(_ environment: SimulatedEnvironment) -> String {
        switch environment {
        case .production: "https://\(production.address.authority)"
        case .sandbox: "https://\(sandbox.address.authority)"
        }
    }

    /// The control port: scheme, host and port.
    package var controlURL: String { "http://\(control.address.authority)" }

    /// Returns when everything that was in its sockets has been read and has its time of arrival.
    package func readSockets() async {
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            // A loop looks at its sockets before it comes to what is due later; what is due at once may come before that.
            for _ in 0..<2 { try? await loop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get() }
        }
    }

    /// Closes all sockets and connections.
    package func stop() async {
        dispatcher.cancel()
        await dispatcher.value
        await withDiscardingTaskGroup { group in
            for listener in listeners { group.addTask { await listener.stop() } }
        }
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: what made a listener end before that.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for listener in listeners { group.addTask { await listener.ended() } }
            // Ends by cancellation too, which is a shutdown as well.
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            await stop()
            group.cancelAll()
        }
        for listener in listeners { try await listener.finish() }
    }

    // MARK: Announcement

    /// Where everything is, as one line of JSON: addresses, and the certificates' files if there is a folder.
    package var announcement: String {
        let directory = stateDirectory
        func path(_ name: String) -> JSONValue { directory.map { .string("\($0)/\(name)") } ?? nil }
        let value: JSONValue = [
            "production": .string(baseURL(.production)), "sandbox": .string(baseURL(.sandbox)),
            "control": .string(controlURL), "rootPEM": path(CertificateSet.FileName.root),
            "rootDER": path(CertificateSet.FileName.rootDER), "tlsCAPEM": path(CertificateSet.FileName.tls),
            "seed": .number(JSONNumber(seed)), "pid": .number(JSONNumber(ProcessInfo.processInfo.processIdentifier)),
        ]
        return value.serializedString()
    }

    /// Writes the announcement to a file, whole or not at all, so that waiting for the file is enough.
    ///
    /// - Throws: what the system says against the path.
    package func announce(inFile path: String) throws {
        try Data((announcement + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
    }
}

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
