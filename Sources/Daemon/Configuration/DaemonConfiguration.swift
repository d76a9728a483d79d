package import Domain
package import KeyCustody
package import Logging

/// Everything an operator can decide, read once at start, validated whole and passed down.
///
/// `docs/configuration.md` describes each key. Nothing else in Purser reads the configuration file, a flag or a variable of
/// the environment that configures it.
package struct DaemonConfiguration: Sendable {
    /// Where links and remembered environments are kept.
    package let store: StoreLocation
    /// The least severe level that is logged.
    package let logLevel: Logger.Level
    package let listeners: ListenersConfiguration
    package let apple: AppleConfiguration
    /// Every key, whatever its state; at most one is active for an app.
    package let keys: [KeyDeclaration]
    /// By slug in ascending order.
    package let apps: [App]
    /// By name in ascending order; without any, every call of the API is refused.
    package let callers: [CallerConfiguration]
    package let shutdown: ShutdownConfiguration
    package let snapshots: SnapshotConfiguration
    /// What is allowed but probably not meant, for the log at start and for `purser config check`.
    package let warnings: [ConfigurationProblem]

    package init(
        store: StoreLocation, logLevel: Logger.Level = .info, listeners: ListenersConfiguration,
        apple: AppleConfiguration, keys: [KeyDeclaration] = [], apps: [App] = [],
        callers: [CallerConfiguration] = [], shutdown: ShutdownConfiguration = ShutdownConfiguration(),
        snapshots: SnapshotConfiguration = SnapshotConfiguration(), warnings: [ConfigurationProblem] = []
    ) {
        self.store = store
        self.logLevel = logLevel
        self.listeners = listeners
        self.apple = apple
        self.keys = keys
        self.apps = apps
        self.callers = callers
        self.shutdown = shutdown
        self.snapshots = snapshots
        self.warnings = warnings
    }
}
