extension ConfigurationParser {
    /// Reads `apple`.
    mutating func appleSection() -> AppleConfiguration {
        let defaults = AppleConfiguration(rootCertificateFiles: [])
        let configuration = AppleConfiguration(
            rootCertificateFiles: rootCertificateFiles(),
            upstream: upstream(),
            certificateAuthorityFile: setting(["apple", "certificateAuthorityFile"], as: .absolutePath),
            proxy: setting(["apple", "proxy"], as: .proxyURL),
            connectTimeout: timeout("connectTimeout", default: defaults.connectTimeout),
            attemptTimeout: timeout("attemptTimeout", default: defaults.attemptTimeout),
            deadline: timeout("deadline", default: defaults.deadline),
            maximumResponseBytes: setting(
                ["apple", "maximumResponseBytes"], as: .bytes(1 << 16...1 << 28),
                default: defaults.maximumResponseBytes),
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

    private mutating func timeout(_ name: String, default: Duration) -> Duration {
        setting(["apple", name], as: .duration(.milliseconds(100) ... .seconds(600)), default: `default`)
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
}
