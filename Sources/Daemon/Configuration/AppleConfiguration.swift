import AppStoreAPI
import Domain

/// How Apple is called and whose signatures are trusted.
package struct AppleConfiguration: Sendable, Equatable {
    /// Files with the pinned root certificates, DER or PEM, by absolute path; at least one.
    package let rootCertificateFiles: [String]
    /// The servers to call in place of Apple's.
    package let upstream: CustomUpstream?
    /// The certificate authorities trusted for TLS to the upstream, PEM; `nil` means the system's.
    package let certificateAuthorityFile: String?
    /// The proxy's URL; it may hold a password, so it is never logged.
    package let proxy: String?
    /// Longest wait for a connection, TLS handshake included.
    package let connectTimeout: Duration
    /// Longest duration of one attempt.
    package let attemptTimeout: Duration
    /// Longest duration of one call with all its attempts.
    package let deadline: Duration
    /// The largest answer taken, in bytes.
    package let maximumResponseBytes: Int
    package let rateLimits: RateLimitConfiguration

    /// Whether calls go to a simulator or another server that is not Apple's.
    package var usesCustomUpstream: Bool { upstream != nil }

    package init(
        rootCertificateFiles: [String], upstream: CustomUpstream? = nil, certificateAuthorityFile: String? = nil,
        proxy: String? = nil, connectTimeout: Duration = ConfigurationDefaults.Apple.connectTimeout.default,
        attemptTimeout: Duration = ConfigurationDefaults.Apple.attemptTimeout.default,
        deadline: Duration = ConfigurationDefaults.Apple.deadline.default,
        maximumResponseBytes: Int = ConfigurationDefaults.Apple.maximumResponseBytes.default,
        rateLimits: RateLimitConfiguration = RateLimitConfiguration()
    ) {
        self.rootCertificateFiles = rootCertificateFiles
        self.upstream = upstream
        self.certificateAuthorityFile = certificateAuthorityFile
        self.proxy = proxy
        self.connectTimeout = connectTimeout
        self.attemptTimeout = attemptTimeout
        self.deadline = deadline
        self.maximumResponseBytes = maximumResponseBytes
        self.rateLimits = rateLimits
    }
}

/// Base URLs (`https`, without a trailing slash) of servers that stand in for Apple's, such as the simulator.
package struct CustomUpstream: Sendable, Equatable {
    package let production: String
    package let sandbox: String

    package init(production: String, sandbox: String) {
        self.production = production
        self.sandbox = sandbox
    }
}

/// What Apple's rate limits are taken to be, and how they are shared out.
package struct RateLimitConfiguration: Sendable, Equatable {
    /// Calls per second in production by the title of Apple's page, for those that differ from what we know of Apple.
    package let requestsPerSecond: [String: Int]
    /// How many percent of the production limits the sandbox has.
    package let sandboxShare: Int
    /// How many percent of a limit are kept for consumption, on the calls that it needs.
    package let reservedShare: Int

    package init(
        requestsPerSecond: [String: Int] = [:], sandboxShare: Int = ConfigurationDefaults.Apple.sandboxShare.default,
        reservedShare: Int = ConfigurationDefaults.Apple.reservedShare.default
    ) {
        self.requestsPerSecond = requestsPerSecond
        self.sandboxShare = sandboxShare
        self.reservedShare = reservedShare
    }
}

extension ConfigurationParser {
    /// Reads `apple`.
    mutating func appleSection() -> AppleConfiguration {
        typealias Defaults = ConfigurationDefaults.Apple
        let configuration = AppleConfiguration(
            rootCertificateFiles: rootCertificateFiles(),
            upstream: upstream(),
            certificateAuthorityFile: setting(["apple", "certificateAuthorityFile"], as: .absolutePath),
            proxy: setting(["apple", "proxy"], as: .proxyURL),
            connectTimeout: setting(["apple", "connectTimeout"], Defaults.connectTimeout),
            attemptTimeout: setting(["apple", "attemptTimeout"], Defaults.attemptTimeout),
            deadline: setting(["apple", "deadline"], Defaults.deadline),
            maximumResponseBytes: setting(["apple", "maximumResponseBytes"], Defaults.maximumResponseBytes),
            rateLimits: rateLimits())
        checkOrder(
            "connectTimeout", configuration.connectTimeout, within: "attemptTimeout", configuration.attemptTimeout)
        checkOrder("attemptTimeout", configuration.attemptTimeout, within: "deadline", configuration.deadline)
        return configuration
    }

    private mutating func rootCertificateFiles() -> [String] {
        let count = problems.count
        let files = root.element(at: ["apple"]).map { apple in
            values("rootCertificates", of: apple, as: .absolutePath).map(\.value)
        }
        if files?.isEmpty ?? true, problems.count == count {
            report(
                place(of: ["apple", "rootCertificates"]), key: "apple.rootCertificates",
                "At least one root certificate is required: whatever it signed is trusted, and nothing else.")
        }
        return files ?? []
    }

    private mutating func upstream() -> CustomUpstream? {
        let path = ["apple", "upstream"]
        let urls = ["production", "sandbox"].map { name in
            (name: name, isGiven: isGiven(path + [name]), url: setting(path + [name], as: .httpsURL))
        }
        if let given = urls.first(where: \.isGiven), let missing = urls.first(where: { !$0.isGiven }) {
            report(
                place(of: path + [given.name]), key: "apple.upstream.\(missing.name)",
                "This key is required where `apple.upstream.\(given.name)` is given: both servers or none.")
        }
        guard let production = urls[0].url, let sandbox = urls[1].url else { return nil }
        return CustomUpstream(production: production, sandbox: sandbox)
    }

    private mutating func checkOrder(
        _ name: String, _ duration: Duration, within outerName: String, _ outer: Duration
    ) {
        guard duration > outer else { return }
        // Told at the one that was given: the other may be a default.
        let told = isGiven(["apple", name]) ? name : outerName
        report(
            place(of: ["apple", told]), key: "apple.\(told)",
            """
            `\(name)` (\(DurationText.text(duration))) must not be longer than \
            `\(outerName)` (\(DurationText.text(outer))).
            """)
    }

    private mutating func rateLimits() -> RateLimitConfiguration {
        let path = ["apple", "rateLimits"]
        return RateLimitConfiguration(
            requestsPerSecond: requestsPerSecond(),
            sandboxShare: setting(path + ["sandboxShare"], ConfigurationDefaults.Apple.sandboxShare),
            reservedShare: setting(path + ["reservedShare"], ConfigurationDefaults.Apple.reservedShare))
    }

    /// A table by the titles of Apple's pages.
    private mutating func requestsPerSecond() -> [String: Int] {
        guard let section = root.element(at: ["apple", "rateLimits"]),
            let table = member("requestsPerSecond", of: section), isTable(table)
        else { return [:] }
        var rates: [String: Int] = [:]
        for operation in Endpoint.Operation.allCases {
            rates[operation.name] = value(
                operation.name, of: table, as: .count(ConfigurationDefaults.Apple.requestsPerSecond))
        }
        return rates
    }
}
