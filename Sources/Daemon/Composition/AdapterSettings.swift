import AppStoreAPI
import AppStoreClient
import CallbackClient
import Curl
import Domain

// The configuration's section `apple`, as the adapters take it.

extension AppleConfiguration {
    /// The servers to call, by environment.
    var baseURLs: [AppStoreEnvironment: String] {
        [
            .production: upstream?.production ?? BaseURL.production,
            .sandbox: upstream?.sandbox ?? BaseURL.sandbox,
        ]
    }
}

extension CurlConfiguration {
    init(_ apple: AppleConfiguration) {
        self.init()
        certificateAuthorityFile = apple.certificateAuthorityFile
        proxy = apple.proxy
        userAgent = "purser/\(Version.text)"
    }
}

extension CurlConfiguration {
    /// `policy`: where callbacks may post at present.
    init(_ callbacks: CallbacksConfiguration, policy: @escaping @Sendable () -> CallbackPolicy) {
        self = CallbackClient.configuration(
            policy, certificateAuthorityFile: callbacks.certificateAuthorityFile,
            userAgent: "purser/\(Version.text)")
    }
}

extension UpstreamConfiguration {
    init(_ apple: AppleConfiguration) {
        self.init(
            baseURLs: apple.baseURLs, connectTimeout: apple.connectTimeout, attemptTimeout: apple.attemptTimeout,
            maximumResponseBytes: apple.maximumResponseBytes)
    }
}

extension RatePolicy {
    /// The calls that an answer with consumption information needs.
    private static let neededForConsumption: Set<Endpoint.Operation> = [
        .sendConsumptionInformation, .sendConsumptionInformationV1, .getTransactionInfo,
    ]

    /// The policy of a configuration; how many callers share the limits, `CallerRegistry` tells as they come and go.
    init(_ configuration: DaemonConfiguration) {
        let rates = configuration.apple.rateLimits
        var limits: [AppStoreEnvironment: [String: RateLimit]] = [:]
        for operation in Endpoint.Operation.allCases {
            guard let rate = rates.requestsPerSecond[operation.name] ?? operation.requestsPerSecond else { continue }
            let reserved = Self.neededForConsumption.contains(operation) ? rates.reservedShare : 0
            limits[.production, default: [:]][operation.name] = RateLimit(
                requestsPerSecond: rate, reservedPercent: reserved)
            guard operation.isInSandbox else { continue }
            limits[.sandbox, default: [:]][operation.name] = RateLimit(
                requestsPerSecond: rate, percent: rates.sandboxShare, reservedPercent: reserved)
        }
        let quotas = configuration.callers.compactMap { caller in
            caller.callsPerHour.map { (caller.caller.name, $0) }
        }
        self.init(limits: limits, quotas: Dictionary(quotas) { first, _ in first })
    }
}
