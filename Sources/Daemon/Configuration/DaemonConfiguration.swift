package import Domain
import Foundation
package import KeyCustody
package import Logging
import OpenSSL

/// Everything an operator can decide, read once at start, validated whole and passed down.
///
/// `docs/configuration.md` describes each key. Nothing else in Purser reads the configuration file, a flag or a variable of
/// the environment that configures it.
package struct DaemonConfiguration: Sendable {
    /// Where everything that must last is kept.
    package let store: StoreLocation
    /// Where the key is that seals secrets in the store.
    package let masterKey: MasterKeySource
    /// Who may own files with secrets, and their directories.
    package let secretFiles: SecretFileOwners
    /// Where it is recorded what was done.
    package let audit: AuditConfiguration
    /// The least severe level that is logged.
    package let logLevel: Logger.Level
    package let listeners: ListenersConfiguration
    package let apple: AppleConfiguration
    /// Every key, whatever its state; at most one is active for an app.
    package let keys: [KeyDeclaration]
    /// Where keys come from besides.
    package let keyDirectories: [KeyDirectory]
    package let keyWarnings: KeyWarningPolicy
    /// By slug in ascending order.
    package let apps: [App]
    /// By slug: how refund cases of an app are answered that nobody answers.
    package let refundPolicies: [String: RefundPolicy]
    /// By name in ascending order; beside them there are those that operators add.
    package let callers: [CallerConfiguration]
    package let access: CallerPolicy
    package let deliveries: DeliveriesConfiguration
    package let cases: CasesConfiguration
    package let notifications: NotificationsConfiguration
    package let receipts: ReceiptsConfiguration
    package let callbacks: CallbacksConfiguration
    package let retention: RetentionPolicy
    package let shutdown: ShutdownConfiguration
    package let snapshots: SnapshotConfiguration
    /// What is allowed but probably not meant, for the log at start and for `purser config check`.
    package let warnings: [ConfigurationProblem]
    /// The file that it was read from, and the SHA-256 of its text, for the audit; nil where it was made otherwise.
    package private(set) var origin: (file: String, digest: String)?

    package init(
        store: StoreLocation, masterKey: MasterKeySource? = nil, secretFiles: SecretFileOwners = SecretFileOwners(),
        audit: AuditConfiguration? = nil, logLevel: Logger.Level = ConfigurationDefaults.logLevel,
        listeners: ListenersConfiguration,
        apple: AppleConfiguration, keys: [KeyDeclaration] = [], keyDirectories: [KeyDirectory] = [],
        keyWarnings: KeyWarningPolicy = KeyWarningPolicy(
            maximumAge: ConfigurationDefaults.KeyWarnings.maximumAge.default,
            unusedFor: ConfigurationDefaults.KeyWarnings.unusedFor.default),
        apps: [App] = [],
        refundPolicies: [String: RefundPolicy] = [:],
        callers: [CallerConfiguration] = [], access: CallerPolicy = CallerPolicy(),
        deliveries: DeliveriesConfiguration = DeliveriesConfiguration(),
        cases: CasesConfiguration = CasesConfiguration(),
        notifications: NotificationsConfiguration = NotificationsConfiguration(),
        receipts: ReceiptsConfiguration = ReceiptsConfiguration(),
        callbacks: CallbacksConfiguration = CallbacksConfiguration(), retention: RetentionPolicy = RetentionPolicy(),
        shutdown: ShutdownConfiguration = ShutdownConfiguration(),
        snapshots: SnapshotConfiguration = SnapshotConfiguration(), warnings: [ConfigurationProblem] = []
    ) {
        self.store = store
        self.masterKey = masterKey ?? .made(path: store.companion("masterkey"))
        self.secretFiles = secretFiles
        self.audit = audit ?? AuditConfiguration(beside: store)
        self.logLevel = logLevel
        self.listeners = listeners
        self.apple = apple
        self.keys = keys
        self.keyDirectories = keyDirectories
        self.keyWarnings = keyWarnings
        self.apps = apps
        self.refundPolicies = refundPolicies
        self.callers = callers
        self.access = access
        self.deliveries = deliveries
        self.cases = cases
        self.notifications = notifications
        self.receipts = receipts
        self.callbacks = callbacks
        self.retention = retention
        self.shutdown = shutdown
        self.snapshots = snapshots
        self.warnings = warnings
    }
}

/// How the daemon stops.
package struct ShutdownConfiguration: Sendable, Equatable {
    /// How long it keeps serving while `/readyz` already answers 503, so that load balancers notice.
    package let drainDelay: Duration
    /// Longest wait for requests in flight after that.
    package let timeout: Duration

    package init(
        drainDelay: Duration = ConfigurationDefaults.Shutdown.drainDelay.default,
        timeout: Duration = ConfigurationDefaults.Shutdown.timeout.default
    ) {
        self.drainDelay = drainDelay
        self.timeout = timeout
    }
}

/// The answers kept in memory so that a caller can page through them.
package struct SnapshotConfiguration: Sendable, Equatable {
    /// How long one is kept.
    package let lifetime: Duration
    /// What all of them may take together, in bytes; the oldest go first.
    package let maximumBytes: Int

    package init(
        lifetime: Duration = ConfigurationDefaults.Snapshots.lifetime.default,
        maximumBytes: Int = ConfigurationDefaults.Snapshots.maximumBytes.default
    ) {
        self.lifetime = lifetime
        self.maximumBytes = maximumBytes
    }
}

/// What the command line of `purser serve` overrides.
package struct ConfigurationFlags: Sendable, Equatable {
    /// `--store`, in place of `store`.
    package let store: String?
    /// `--log-level`, in place of `log.level`.
    package let logLevel: String?

    package init(store: String? = nil, logLevel: String? = nil) {
        self.store = store
        self.logLevel = logLevel
    }
}

extension DaemonConfiguration {
    /// Reads the configuration file and resolves flags over environment over file over defaults.
    ///
    /// - Parameters:
    ///   - file: the path of the YAML file.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process: the `PURSER_` variables, and `CREDENTIALS_DIRECTORY`.
    /// - Returns: the configuration, valid as a whole; the files that it names were not opened.
    /// - Throws: `ConfigurationError` with every problem there is.
    package static func load(
        file: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let text = try contents(of: file)
        var configuration = try parse(yaml: text, file: file, flags: flags, environment: environment)
        configuration.origin = (try? SHA256Digest.hexadecimalDigest(Array(text.utf8))).map { (file, $0) }
        return configuration
    }

    /// Resolves the configuration from the text of its file.
    ///
    /// - Parameters:
    ///   - yaml: the text of the file.
    ///   - file: what to call the file in problems.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process.
    /// - Returns: the configuration, valid as a whole.
    /// - Throws: `ConfigurationError` with every problem there is.
    package static func parse(
        yaml: String, file: String, flags: ConfigurationFlags = ConfigurationFlags(),
        environment: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let document = try YAMLDocument(text: yaml, file: file)
        var parser = ConfigurationParser(document: document, file: file, flags: flags, environment: environment)
        return try parser.configuration()
    }

    /// The text of a configuration file.
    ///
    /// - Throws: `ConfigurationError` with the reason why it cannot be read.
    static func contents(of file: String) throws(ConfigurationError) -> String {
        func refusal(_ problem: String) -> ConfigurationError {
            ConfigurationError(problems: [ConfigurationProblem(.file(file), "The file \(problem).")])
        }
        let data: Data
        do throws(FileError) {
            data = try Files.contents(of: file, maximumBytes: ConfigurationDefaults.maximumFileBytes, allowsPipe: true)
        } catch {
            throw refusal(error.problem)
        }
        guard let text = String(validating: data, as: UTF8.self) else { throw refusal("is no UTF-8 text") }
        return text
    }
}

extension ConfigurationParser {
    /// Reads everything.
    ///
    /// - Throws: `ConfigurationError` when there is any problem at all.
    mutating func configuration() throws(ConfigurationError) -> DaemonConfiguration {
        let store = storeSection()
        let masterKey = masterKeySection(beside: store)
        let audit = auditSection(beside: store)
        let owners = secretFilesSection(store, auditDirectory: audit?.directory)
        let logLevel = setting(["log", "level"], as: .oneOf, default: ConfigurationDefaults.logLevel)
        let listeners = listenersSection()
        let apple = appleSection()
        let apps = appsSection()
        let keyDirectories = keyDirectoriesSection(apps: apps, owners: owners)
        let keys = keysSection(apps: apps, directories: keyDirectories, owners: owners)
        let keyWarnings = keyWarningsSection()
        let callers = callersSection(apps: apps)
        let access = accessSection()
        let deliveries = deliveriesSection()
        let cases = casesSection()
        let notifications = notificationsSection()
        let receipts = receiptsSection()
        let callbacks = callbacksSection()
        let retention = retentionSection()
        let shutdown = shutdownSection()
        let snapshots = snapshotsSection()
        finish()
        guard let store, problems.isEmpty else { throw ConfigurationError(problems: problems) }
        let policies = apps.all.compactMap { app in app.refundPolicy.map { (app.slug, $0) } }
        return DaemonConfiguration(
            store: store, masterKey: masterKey, secretFiles: owners, audit: audit, logLevel: logLevel,
            listeners: listeners, apple: apple, keys: keys, keyDirectories: keyDirectories, keyWarnings: keyWarnings,
            apps: apps.all.compactMap(\.app).sorted { $0.slug < $1.slug },
            refundPolicies: Dictionary(policies) { first, _ in first },
            callers: callers.sorted { $0.caller.name < $1.caller.name }, access: access,
            deliveries: deliveries, cases: cases, notifications: notifications, receipts: receipts,
            callbacks: callbacks, retention: retention,
            shutdown: shutdown, snapshots: snapshots, warnings: warnings)
    }

    private mutating func shutdownSection() -> ShutdownConfiguration {
        ShutdownConfiguration(
            drainDelay: setting(["shutdown", "drainDelay"], ConfigurationDefaults.Shutdown.drainDelay),
            timeout: setting(["shutdown", "timeout"], ConfigurationDefaults.Shutdown.timeout))
    }

    private mutating func snapshotsSection() -> SnapshotConfiguration {
        SnapshotConfiguration(
            lifetime: setting(["snapshots", "lifetime"], ConfigurationDefaults.Snapshots.lifetime),
            maximumBytes: setting(["snapshots", "maximumBytes"], ConfigurationDefaults.Snapshots.maximumBytes))
    }
}
