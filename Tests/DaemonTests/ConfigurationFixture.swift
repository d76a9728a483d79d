import Daemon

/// A configuration that has what must be there, and ways to read a changed one.
enum ConfigurationFixture {
    /// Thirteen lines; a test that appends a section begins on line 14.
    static let minimal = """
        store: sqlite:/var/lib/purser/purser.db
        apple:
          rootCertificates: [/etc/purser/AppleRootCA-G3.cer]
        apps:
          coins:
            bundleId: com.example.coins
            appAppleId: 1234567890
        keys:
          - id: 2X9R4HXF34
            issuer: 57246542-96fe-1a63-e053-0824d011072a
            file: /etc/purser/coins.p8
            apps: [coins]
        # The end of what is required.

        """

    /// The SHA-256 of nothing at all.
    static let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Reads a configuration that should be valid.
    static func configuration(
        _ yaml: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration.parse(yaml: yaml, file: "purser.yaml", flags: flags, environment: environment)
    }

    /// What is wrong with a configuration; nothing when it is valid.
    static func problems(
        _ yaml: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String] = [:]
    ) -> [ConfigurationProblem] {
        do {
            _ = try configuration(yaml, flags: flags, environment: environment)
            return []
        } catch {
            return error.problems
        }
    }

    /// Where the problems are, as `line key`.
    static func places(_ yaml: String) -> [String] {
        problems(yaml).map { "\($0.origin.line.map(String.init) ?? "-") \($0.key)" }
    }
}
