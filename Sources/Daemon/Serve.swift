import Domain
import Foundation
import Logging
import ServiceLifecycle
import Systemd
import TraceContext
import UnixSignals

/// Runs the daemon until it is told to stop.
package enum Serve {
    /// The name in the journal.
    static let identifier = "purser"

    /// `purser serve`: reads the configuration and runs the daemon until it is told to stop.
    ///
    /// - Parameters:
    ///   - file: the configuration file.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process.
    ///   - losses: the ids of the master keys whose loss the operator accepts at this start.
    /// - Returns: `configuration` with every problem of it, `failure` with the reason why the daemon could not start or go
    ///   on, or `success` after it was told to stop.
    package static func run(
        file: String, flags: ConfigurationFlags, environment: [String: String],
        acceptedMasterKeyLosses losses: [String] = []
    ) async -> CommandOutcome {
        let destination = LogDestination.detect(
            environment: environment, standardError: STDERR_FILENO, identifier: identifier, fieldPrefix: "PURSER_")
        let configuration: DaemonConfiguration
        do {
            configuration = try DaemonConfiguration.load(file: file, flags: flags, environment: environment)
        } catch {
            let failure = StartFailure(error)
            // For whoever has typed the command it is not made a line of a log.
            guard destination.format != .terminal else { return failure.told }
            let outcome = failure.log(to: Logger(label: identifier) { destination.makeHandler(label: $0) })
            await destination.flush()
            return outcome
        }
        let level = LogLevel(configuration.logLevel)
        let logger = Logger(label: identifier) { label in
            var handler = destination.makeHandler(label: label, level: level)
            handler.metadataProvider = TraceScope.metadataProvider
            return handler
        }
        var dependencies = Dependencies(logger: logger)
        dependencies.logLevel = level
        dependencies.acceptedMasterKeyLosses = losses
        dependencies.loadConfiguration = { () throws(ConfigurationError) in
            let (configuration, files) = try ConfigurationFiles.load(
                file: file, flags: flags, environment: environment)
            guard files.problems.isEmpty else { throw ConfigurationError(problems: files.problems) }
            return configuration
        }
        let outcome: CommandOutcome
        do {
            try await run(configuration: configuration, dependencies, flushLog: { await destination.flush() })
            outcome = CommandOutcome(.success)
        } catch {
            outcome = StartFailure(error).log(to: logger)
        }
        await destination.flush()
        return outcome
    }

    /// Starts, serves, drains and returns.
    ///
    /// SIGHUP reads the configuration anew. The first SIGTERM or SIGINT drains; a second one exits at once with 128 and the signal's
    /// number, as a shell would.
    /// - Throws: what a part says of why it cannot start or go on.
    private static func run(
        configuration: DaemonConfiguration, _ dependencies: Dependencies, flushLog: @escaping @Sendable () async -> Void
    ) async throws {
        var dependencies = dependencies
        let logger = dependencies.logger
        if try !ProcessProtection.ensure().isKeyMemoryLocked {
            logger.warning("Key memory could not be locked; raise RLIMIT_MEMLOCK to keep keys out of swap")
        }
        for warning in configuration.warnings { logger.warning("Configuration: \(warning)") }
        if configuration.apple.usesCustomUpstream {
            logger.warning("UPSTREAM IS CUSTOM: calls go to the configured servers, not to Apple")
        }
        dependencies.watchdogInterval = try Notifier.watchdogInterval()
        dependencies.inheritedSockets = try InheritedSocket.all()
        let daemon = try await makeDaemon(configuration: configuration, dependencies: dependencies)
        let group = ServiceGroup(
            configuration: groupConfiguration(daemon, timeout: configuration.shutdown.timeout, logger: logger))
        // Before anybody is told that it is ready, who may answer with a signal at once: one that is not caught ends the process,
        // with the requests that it has taken.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let obeying = Task { await obey(signals, group, daemon.reloader, logger, flushLog) }
        defer { obeying.cancel() }
        try await daemon.run(in: group)
        logger.notice("Stopped")
    }

    private static func groupConfiguration(
        _ daemon: Daemon, timeout: Duration, logger: Logger
    ) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: daemon.services.map {
                // Without a name the library describes the whole service by reflection: a fifth of the start-up.
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup, serviceName: "\(type(of: $0))")
            },
            logger: logger)
        configuration.maximumGracefulShutdownDuration = timeout
        return configuration
    }

    private static func obey(
        _ signals: UnixSignalsSequence, _ group: ServiceGroup, _ reloader: any ConfigurationReloader, _ logger: Logger,
        _ flushLog: @Sendable () async -> Void
    ) async {
        var count = 0
        for await signal in signals {
            if signal == .sighup {
                // A task of its own, so that whoever wants it to end need not wait; what comes of it is logged.
                Task { _ = try? await reloader.reload(by: .daemon) }
                continue
            }
            count += 1
            guard count == 1 else {
                logger.warning("A second signal: leaving at once")
                await flushLog()
                _exit(128 + (signal == .sigint ? SIGINT : SIGTERM))
            }
            await group.triggerGracefulShutdown()
        }
    }
}
