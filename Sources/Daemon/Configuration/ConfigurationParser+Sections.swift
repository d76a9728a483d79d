import Domain
import KeyCustody
import Logging

extension ConfigurationParser {
    /// Reads everything.
    ///
    /// - Throws: `ConfigurationError` when there is any problem at all.
    mutating func configuration() throws(ConfigurationError) -> DaemonConfiguration {
        let store = requiredSetting(["store"], as: .storeLocation)
        let logLevel = setting(["log", "level"], as: .oneOf, default: Logger.Level.info)
        let listeners = listenersSection()
        let apple = appleSection()
        let apps = appsSection()
        let keys = keysSection(apps: apps)
        let callers = callersSection(apps: apps)
        let deliveries = deliveriesSection()
        let cases = casesSection()
        let notifications = notificationsSection()
        let retention = retentionSection()
        let shutdown = shutdownSection()
        let snapshots = snapshotsSection()
        finish()
        guard let store, problems.isEmpty else { throw ConfigurationError(problems: problems) }
        let policies = apps.all.compactMap { app in app.consumptionPolicy.map { (app.slug, $0) } }
        return DaemonConfiguration(
            store: store, logLevel: logLevel, listeners: listeners, apple: apple, keys: keys,
            apps: apps.all.compactMap(\.app).sorted { $0.slug < $1.slug },
            consumptionPolicies: Dictionary(policies) { first, _ in first },
            callers: callers.sorted { $0.caller.name < $1.caller.name },
            deliveries: deliveries, cases: cases, notifications: notifications, retention: retention,
            shutdown: shutdown, snapshots: snapshots, warnings: warnings)
    }

    private mutating func shutdownSection() -> ShutdownConfiguration {
        let defaults = ShutdownConfiguration()
        return ShutdownConfiguration(
            drainDelay: setting(
                ["shutdown", "drainDelay"], as: .duration(.zero ... .seconds(300)), default: defaults.drainDelay),
            timeout: setting(
                ["shutdown", "timeout"], as: .duration(.seconds(1) ... .seconds(600)), default: defaults.timeout))
    }

    private mutating func snapshotsSection() -> SnapshotConfiguration {
        let defaults = SnapshotConfiguration()
        return SnapshotConfiguration(
            lifetime: setting(
                ["snapshots", "lifetime"], as: .duration(.seconds(1) ... .seconds(86_400)), default: defaults.lifetime),
            maximumBytes: setting(
                ["snapshots", "maximumBytes"], as: .bytes(1 << 20...1 << 34), default: defaults.maximumBytes))
    }
}
