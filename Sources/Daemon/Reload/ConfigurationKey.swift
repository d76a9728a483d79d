import Domain
import HTTPAPI
import KeyCustody
import Listener

/// A key of the configuration with a single value or a list, and whether a reload takes it up.
///
/// `docs/configuration.md` has the same lists, held by a test; `docs/decisions/0030-reload-swaps-what-it-can.md` tells why some keys
/// are left to the next start.
package struct ConfigurationKey: Sendable {
    /// As `docs/configuration.md` writes it; what begins with it and a dot is meant, too.
    package let name: String
    /// The keys that differ, spelled out.
    private let differing: @Sendable (_ before: DaemonConfiguration, _ after: DaemonConfiguration) -> [String]

    /// Those of a list that differ, spelled out and in its order.
    static func changed(
        _ keys: [ConfigurationKey], from before: DaemonConfiguration, to after: DaemonConfiguration
    ) -> [String] {
        keys.flatMap { $0.differing(before, after) }
    }

    private init<Value: Equatable & Sendable>(
        _ name: String, _ value: @escaping @Sendable (DaemonConfiguration) -> Value
    ) {
        self.name = name
        differing = { before, after in value(before) == value(after) ? [] : [name] }
    }

    /// A key of each listener; `isSameWithout`: whether one that comes or goes does not count.
    private init<Value: Equatable & Sendable>(
        ofListeners name: String, isSameWithout: Bool,
        _ value: @escaping @Sendable (ListenerSettings) -> Value
    ) {
        self.name = "listeners.NAME.\(name)"
        differing = { before, after in
            ListenersConfiguration.names.filter { listener in
                switch (before.listeners[listener], after.listeners[listener]) {
                case (let before?, let after?): value(before) != value(after)
                case (nil, nil): false
                default: !isSameWithout
                }
            }.map { "listeners.\($0).\(name)" }
        }
    }

    private static func listener<Value: Equatable & Sendable>(
        _ name: String, _ value: @escaping @Sendable (ListenerSettings) -> Value
    ) -> ConfigurationKey {
        ConfigurationKey(ofListeners: name, isSameWithout: true, value)
    }

    // MARK: The lists

    /// Those that are read at the start alone, in the order of the configuration.
    package static let readAtStart: [ConfigurationKey] = [
        ConfigurationKey("store") { $0.store.withoutPassword },
        ConfigurationKey("storePassword") { $0.store.passwordFile },
        ConfigurationKey("masterKey") { $0.masterKey },
        ConfigurationKey("audit") { $0.audit },
        ConfigurationKey(ofListeners: "address", isSameWithout: false) { $0.address.withoutMode },
        listener("mode") { $0.address.mode },
        listener("group") { $0.group },
        listener("allowEverybody") { $0.allowsEverybody },
        listener("tls") { $0.tls != nil },
        listener("reflection") { $0.reflection },
        ConfigurationKey("apple.rootCertificates") { $0.apple.rootCertificateFiles },
        ConfigurationKey("apple.upstream") { $0.apple.upstream },
        ConfigurationKey("apple.certificateAuthorityFile") { $0.apple.certificateAuthorityFile },
        ConfigurationKey("apple.proxy") { $0.apple.proxy },
        ConfigurationKey("apple.connectTimeout") { $0.apple.connectTimeout },
        ConfigurationKey("apple.attemptTimeout") { $0.apple.attemptTimeout },
        ConfigurationKey("apple.deadline") { $0.apple.deadline },
        ConfigurationKey("apple.maximumResponseBytes") { $0.apple.maximumResponseBytes },
        ConfigurationKey("deliveries.concurrency") { $0.deliveries.concurrency },
        ConfigurationKey("notifications.history") { $0.notifications.history },
        ConfigurationKey("callbacks.certificateAuthorityFile") { $0.callbacks.certificateAuthorityFile },
        ConfigurationKey("receipts") { $0.receipts },
        ConfigurationKey("retention") { $0.retention },
        ConfigurationKey("shutdown") { $0.shutdown },
        ConfigurationKey("snapshots") { $0.snapshots },
    ]

    /// Those that a reload takes up, in the order of the configuration; besides them it takes up `apps`, `callers`, `keys` and
    /// `keyDirectories`.
    package static let reloaded: [ConfigurationKey] = [
        ConfigurationKey("log.level") { $0.logLevel },
        listener("maximumConnections") { $0.maximumConnections },
        listener("maximumRequests") { $0.maximumRequests },
        listener("maximumHeaderBytes") { $0.maximumHeaderBytes },
        listener("maximumBodyBytes") { $0.maximumBodyBytes },
        listener("trustedProxies") { $0.trustedProxies },
        listener("tls.certificateChain") { $0.tls?.certificateChainFile },
        listener("tls.privateKey") { $0.tls?.privateKeyFile },
        listener("tls.clientCertificateAuthorities") { $0.tls?.clientCertificates?.authoritiesFile },
        listener("tls.clientCertificates") { $0.tls?.clientCertificates?.isRequired },
        listener("idleTimeout") { $0.idleTimeout },
        ConfigurationKey("apple.rateLimits.sandboxShare") { $0.apple.rateLimits.sandboxShare },
        ConfigurationKey("apple.rateLimits.reservedShare") { $0.apple.rateLimits.reservedShare },
        ConfigurationKey("apple.rateLimits.requestsPerSecond") { $0.apple.rateLimits.requestsPerSecond },
        ConfigurationKey("access.rotationGrace") { $0.access.rotationGrace },
        ConfigurationKey("access.expiryWarning") { $0.access.expiryWarning },
        ConfigurationKey("access.unusedWarning") { $0.access.unusedWarning },
        ConfigurationKey("deliveries.wait") { $0.deliveries.wait },
        ConfigurationKey("cases.warnBefore") { $0.cases.warnBefore },
        ConfigurationKey("callbacks.allowedHosts") { $0.callbacks.policy.allowedHosts },
        ConfigurationKey("callbacks.allowedNetworks") { $0.callbacks.policy.allowedNetworks },
        ConfigurationKey("callbacks.timeout") { $0.callbacks.policy.timeout },
        ConfigurationKey("keyWarnings.maximumAge") { $0.keyWarnings.maximumAge },
        ConfigurationKey("keyWarnings.unusedFor") { $0.keyWarnings.unusedFor },
        ConfigurationKey("secretFiles.allowedOwners") { $0.secretFiles.allowed },
    ]
}

extension ListenerAddress {
    /// The permissions of a Unix socket's file.
    fileprivate var mode: UInt16? {
        if case .unix(_, let mode) = self { mode } else { nil }
    }

    fileprivate var withoutMode: ListenerAddress {
        if case .unix(let path, _) = self { .unix(path: path, mode: 0) } else { self }
    }
}
