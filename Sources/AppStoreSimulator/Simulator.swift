import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import OpenSSL
import ServiceLifecycle

/// The App Store Server API, played: two servers and a control port, listening.
package final class Simulator: Service, Sendable {
    /// What the simulator knows; the control port and callers in the same process change it.
    package let state: SimulatorState
    /// The root of the certificates that sign transactions: what a client pins in place of Apple's.
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
                state: state, root: certificates.signing.root, tlsAuthority: certificates.tls.certificate)
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
}
