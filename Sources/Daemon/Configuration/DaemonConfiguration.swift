package import Domain
package import KeyCustody
package import Logging

/// Everything an operator can decide, read once at start, validated whole and passed down.
///
/// `docs/configuration.md` describes each key. Nothing else in Purser reads the configuration file, a flag or a variable of
/// the environment that configures it.
package struct DaemonConfiguration: Sendable {
    /// Where everything that must last is kept.
    package let store: StoreLocation
    /// The least severe level that is logged.
    package let logLevel: Logger.Level
    package let listeners: ListenersConfiguration
    package let apple: AppleConfiguration
    /// Every key, whatever its state; at most one is active for an app.
    package let keys: [KeyDeclaration]
    /// By slug in ascending order.
    package let apps: [App]
    /// By slug: how refund cases of an app are answered that nobody answers.
    package let consumptionPolicies: [String: ConsumptionPolicy]
    /// By name in ascending order; without any, every call of the API is refused.
    package let callers: [CallerConfiguration]
    package let deliveries: DeliveriesConfiguration
    package let cases: CasesConfiguration
    package let notifications: NotificationsConfiguration
    package let retention: RetentionPolicy
    package let shutdown: ShutdownConfiguration
    package let snapshots: SnapshotConfiguration
    /// What is allowed but probably not meant, for the log at start and for `purser config check`.
    package let warnings: [ConfigurationProblem]

    package init(
        store: StoreLocation, logLevel: Logger.Level = .info, listeners: ListenersConfiguration,
        apple: AppleConfiguration, keys: [KeyDeclaration] = [], apps: [App] = [],
        consumptionPolicies: [String: ConsumptionPolicy] = [:],
        callers: [CallerConfiguration] = [], deliveries: DeliveriesConfiguration = DeliveriesConfiguration(),
        cases: CasesConfiguration = CasesConfiguration(),
        notifications: NotificationsConfiguration = NotificationsConfiguration(),
        retention: RetentionPolicy = RetentionPolicy(), shutdown: ShutdownConfiguration = ShutdownConfiguration(),
        snapshots: SnapshotConfiguration = SnapshotConfiguration(), warnings: [ConfigurationProblem] = []
    ) {
        self.store = store
        self.logLevel = logLevel
        self.listeners = listeners
        self.apple = apple
        self.keys = keys
        self.apps = apps
        self.consumptionPolicies = consumptionPolicies
        self.callers = callers
        self.deliveries = deliveries
        self.cases = cases
        self.notifications = notifications
        self.retention = retention
        self.shutdown = shutdown
        self.snapshots = snapshots
        self.warnings = warnings
    }
}
