import AuditLog
import Domain
import Foundation
import KeyCustody
import Listener
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import Systemd

/// Reads the configuration anew and swaps it, whole or not at all, while everything is served.
///
/// All that can fail comes first: the file and every file that it names are read and checked, keys and certificates are ready in
/// memory, and the last thing that may fail keeps the settings of apps in the store. What follows are assignments: keys, limits,
/// apps with all other settings, callers, listeners, the log's level. They go in the order opposite to that in which a request
/// asks, for its caller, its app and its key: whoever is known by a new part finds the new ones behind it.
final class Reloader: ConfigurationReloader {
    /// A listener that serves, and what of it can change.
    struct Target: Sendable {
        let name: String
        let listener: Listener
        /// Takes the settings of the listener as a configuration has them.
        let take: @Sendable (ListenerSettings) -> Void
    }

    private let load: (@Sendable () throws(ConfigurationError) -> DaemonConfiguration)?
    private let adapters: Adapters
    private let services: Services
    private let loaded: LoadedConfiguration
    private let notifier: Notifier
    private let logLevel: LogLevel
    private let logger: Logger
    private let start: DaemonConfiguration
    /// The one that is in force, but for what needs a restart.
    private let present: Mutex<DaemonConfiguration>
    private let targets = Mutex<[Target]>([])
    private let statusLine: @Sendable () -> String
    private let acts = SerialActs()

    /// `configuration`: the one of the start; `statusLine`: what the service manager shows when it is done.
    init(
        _ configuration: DaemonConfiguration, _ adapters: Adapters, _ services: Services, _ loaded: LoadedConfiguration,
        _ dependencies: Dependencies, statusLine: @escaping @Sendable () -> String
    ) {
        load = dependencies.loadConfiguration
        self.adapters = adapters
        self.services = services
        self.loaded = loaded
        notifier = dependencies.notifier
        logLevel = dependencies.logLevel
        logger = dependencies.logger
        start = configuration
        present = Mutex(configuration)
        self.statusLine = statusLine
    }

    /// Changes these listeners, too, now that they are bound.
    func reach(_ listeners: [Target]) { targets.withLock { $0 = listeners } }

    func reload(by actor: Actor) async throws(ServiceError) -> ConfigurationReload {
        try await acts.run { () throws(ServiceError) in
            await self.notifier.tell(
                .reloading(since: Notifier.monotonicNow()), .status("Reloading the configuration"), logger: self.logger)
            let result: Result<ConfigurationReload, ServiceError>
            do throws(ServiceError) {
                result = .success(try await self.reloadNow(by: actor))
            } catch {
                result = .failure(error)
            }
            self.tell(result, by: actor)
            await self.notifier.tell(.ready, .status(self.statusLine()), logger: self.logger)
            return try result.get()
        }
    }

    private func reloadNow(by actor: Actor) async throws(ServiceError) -> ConfigurationReload {
        let configuration = try await readConfiguration()
        let keys = try await readKeys(of: configuration)
        let certificates = try await prepareCertificates(of: configuration)
        let (services, budgets, store) = (services, adapters.budgets, adapters.store)
        let settings = Services.Settings(configuration)
        let rates = RatePolicy(configuration)
        let before = present.withLock(\.self)
        let changedCertificates = Mutex<[String]>([])
        let keyChange = try await adapters.custodian.replace(with: keys) { () throws(ServiceError) in
            try await store.keepSettings(of: configuration.apps)
        } swap: {
            // Nothing in here fails.
            budgets.replace(limits: rates.limits, quotas: rates.quotas)
            services.replaceSettings(with: settings)
            changedCertificates.withLock { $0 = self.swapListeners(configuration, certificates) }
            self.logLevel.set(configuration.logLevel)
            self.present.withLock { $0 = configuration }
        }
        let needsRestart = ConfigurationKey.changed(ConfigurationKey.readAtStart, from: start, to: configuration)
        let now = services.clock.now()
        let generation = loaded.noteSuccess(at: now, needsRestart: needsRestart)
        var act = AuditAct(.configurationLoaded, by: actor, details: ["generation": String(generation)])
        act.details["file"] = configuration.origin?.file
        act.details["sha256"] = configuration.origin?.digest
        await adapters.audit.settle(act)
        warnOfOrphans(services.access, logger: logger)
        return ConfigurationReload(
            generation: generation, loadedAt: now,
            changes: Self.changes(from: before, to: configuration) + [
                keyChange, ConfigurationReload.Change("certificates", changed: changedCertificates.withLock(\.self)),
            ],
            needsRestart: needsRestart, warnings: configuration.warnings.map(\.description))
    }

    /// What is other than before; of keys and certificates whoever reads those tells.
    private static func changes(
        from before: DaemonConfiguration, to after: DaemonConfiguration
    ) -> [ConfigurationReload.Change] {
        func byName<Value: Equatable>(
            _ values: [Value], _ name: (Value) -> String
        ) -> [String: Value] {
            Dictionary(values.map { (name($0), $0) }) { first, _ in first }
        }
        return [
            ConfigurationReload.Change(
                "apps", from: byName(before.apps, \.slug), to: byName(after.apps, \.slug)),
            ConfigurationReload.Change("refundPolicies", from: before.refundPolicies, to: after.refundPolicies),
            ConfigurationReload.Change(
                "callers", from: byName(before.callers, \.caller.name), to: byName(after.callers, \.caller.name)),
            ConfigurationReload.Change(
                "keyDirectories", from: byName(before.keyDirectories, \.path), to: byName(after.keyDirectories, \.path)),
            ConfigurationReload.Change(
                "settings", changed: ConfigurationKey.changed(ConfigurationKey.reloaded, from: before, to: after)),
        ]
    }

    // MARK: What may fail

    private func readConfiguration() async throws(ServiceError) -> DaemonConfiguration {
        guard let load else {
            throw Self.refusal(["This process was not started from a configuration file."])
        }
        let result = await Blocking.run { Result { () throws(ConfigurationError) in try load() } }
        do throws(ConfigurationError) {
            return try result.get()
        } catch {
            throw ServiceError(
                .configurationInvalid, Self.summary(error.problems.count),
                violations: error.problems.map { problem in
                    Violation(
                        field: problem.key.isEmpty ? "configuration" : problem.key, rule: "configuration",
                        message: problem.description)
                })
        }
    }

    private func readKeys(
        of configuration: DaemonConfiguration
    ) async throws(ServiceError) -> KeyCustodian.Replacement {
        let result = await Blocking.run {
            Result { () throws(KeyFileError) in
                try KeyCustodian.Replacement(
                    loading: configuration.keys, directories: configuration.keyDirectories,
                    warnings: configuration.keyWarnings)
            }
        }
        do throws(KeyFileError) {
            return try result.get()
        } catch {
            throw Self.refusal(StartFailure(error).lines)
        }
    }

    /// The TLS of the listeners that have it, by name.
    private func prepareCertificates(
        of configuration: DaemonConfiguration
    ) async throws(ServiceError) -> [String: ListenerCertificates.Prepared] {
        var prepared: [String: ListenerCertificates.Prepared] = [:]
        var problems: [String] = []
        for target in targets.withLock(\.self) where target.listener.certificates != nil {
            guard let settings = configuration.listeners[target.name], let tls = settings.tls else { continue }
            do throws(ListenerError.Reason) {
                prepared[target.name] = try await ListenerCertificates.prepare(tls)
            } catch {
                problems.append("\(ListenerError(listener: target.name, address: settings.address, reason: error))")
            }
        }
        guard problems.isEmpty else { throw Self.refusal(problems) }
        return prepared
    }

    private static func refusal(_ problems: [String]) -> ServiceError {
        ServiceError(
            .configurationInvalid, summary(problems.count),
            violations: problems.map { Violation(field: "configuration", rule: "configuration", message: $0) })
    }

    private static func summary(_ count: Int) -> String {
        "The configuration has \(count == 1 ? "a problem" : "\(count) problems"); the one before stays in force, whole."
    }

    // MARK: What does not

    /// Changes limits and certificates of the listeners.
    ///
    /// - Returns: the names of those with another certificate.
    private func swapListeners(
        _ configuration: DaemonConfiguration, _ certificates: [String: ListenerCertificates.Prepared]
    ) -> [String] {
        var changed: [String] = []
        for target in targets.withLock(\.self) {
            guard let settings = configuration.listeners[target.name] else { continue }
            target.take(settings)
            guard let prepared = certificates[target.name] else { continue }
            if target.listener.certificates?.take(prepared) == true { changed.append(target.name) }
        }
        return changed
    }

    private func tell(_ result: Result<ConfigurationReload, ServiceError>, by actor: Actor) {
        switch result {
        case .success(let reload):
            for warning in reload.warnings { logger.warning("Configuration: \(warning)") }
            logger.notice(
                "The configuration is reloaded",
                metadata: [
                    "generation": "\(reload.generation)", "by": "\(actor.name)",
                    "changed": "\(reload.changes.map(\.part).joined(separator: ","))",
                ])
            guard !reload.needsRestart.isEmpty else { return }
            logger.warning(
                "Some keys of the configuration have no effect before a restart",
                metadata: ["keys": "\(reload.needsRestart.joined(separator: ","))"])
        case .failure(let error):
            let problems = error.violations.isEmpty ? [error.message] : error.violations.map(\.message)
            loaded.noteFailure(problems.count == 1 ? problems[0] : "\(problems[0]) and \(problems.count - 1) more")
            for problem in problems { logger.error("Configuration: \(problem)") }
            logger.error(
                "The configuration is not reloaded; the one before stays in force",
                metadata: ["by": "\(actor.name)", "cause": "\(error.cause ?? error.message)"])
        }
    }
}
