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

    /// Values that are no defaults, by variable; those of other listeners that `api` has too are left out.
    static let everyVariable = [
        "PURSER_STORE": "postgres://e@e/e", "PURSER_STORE_PASSWORD_FILE": "/e.password",
        "PURSER_LOG_LEVEL": "warning",
        "PURSER_AUDIT_DIRECTORY": "/e.audit", "PURSER_AUDIT_RETENTION": "500d",
        "PURSER_AUDIT_RESERVE_FILE": "/e.reserve",
        "PURSER_AUDIT_RESERVE_BYTES": "1MiB",
        "PURSER_KEY_WARNINGS_MAXIMUM_AGE": "30d", "PURSER_KEY_WARNINGS_UNUSED_FOR": "off",
        "PURSER_MASTER_KEY_FILE": "/e.masterkey", "PURSER_MASTER_KEY_ALLOW_GROUP_READABLE": "true",
        "PURSER_LISTENERS_API_ADDRESS": "unix:/run/api.sock", "PURSER_LISTENERS_API_MODE": "0660",
        "PURSER_LISTENERS_API_GROUP": "services",
        "PURSER_LISTENERS_API_MAXIMUM_CONNECTIONS": "7", "PURSER_LISTENERS_API_MAXIMUM_REQUESTS": "6",
        "PURSER_LISTENERS_API_MAXIMUM_HEADER_BYTES": "2KiB",
        "PURSER_LISTENERS_API_MAXIMUM_BODY_BYTES": "3KiB", "PURSER_LISTENERS_API_IDLE_TIMEOUT": "9s",
        "PURSER_LISTENERS_WEBHOOK_ADDRESS": "[::]:8081",
        "PURSER_LISTENERS_WEBHOOK_TLS_CERTIFICATE_CHAIN": "/chain.pem",
        "PURSER_LISTENERS_WEBHOOK_TLS_PRIVATE_KEY": "/key.pem",
        "PURSER_LISTENERS_WEBHOOK_TLS_CLIENT_CERTIFICATE_AUTHORITIES": "/clients.pem",
        "PURSER_LISTENERS_WEBHOOK_TLS_CLIENT_CERTIFICATES": "optional",
        "PURSER_LISTENERS_APPLE_PRODUCTION_ADDRESS": "127.0.0.1:8443",
        "PURSER_LISTENERS_APPLE_SANDBOX_ADDRESS": "127.0.0.1:8444", "PURSER_LISTENERS_ADMIN_ADDRESS": "none",
        "PURSER_LISTENERS_HEALTH_ADDRESS": "0.0.0.0:9090",
        "PURSER_APPLE_UPSTREAM_PRODUCTION": "https://localhost:1",
        "PURSER_APPLE_UPSTREAM_SANDBOX": "https://localhost:2/",
        "PURSER_APPLE_CERTIFICATE_AUTHORITY_FILE": "/ca.pem", "PURSER_APPLE_PROXY": "http://proxy:3128",
        "PURSER_APPLE_CONNECT_TIMEOUT": "1s", "PURSER_APPLE_ATTEMPT_TIMEOUT": "2s", "PURSER_APPLE_DEADLINE": "3s",
        "PURSER_APPLE_RATE_LIMITS_SANDBOX_SHARE": "11%", "PURSER_APPLE_RATE_LIMITS_RESERVED_SHARE": "0%",
        "PURSER_APPLE_MAXIMUM_RESPONSE_BYTES": "1MiB", "PURSER_SHUTDOWN_DRAIN_DELAY": "4s",
        "PURSER_SHUTDOWN_TIMEOUT": "5s", "PURSER_SNAPSHOTS_LIFETIME": "1m",
        "PURSER_SNAPSHOTS_MAXIMUM_BYTES": "2MiB", "PURSER_DELIVERIES_CONCURRENCY": "8",
        "PURSER_DELIVERIES_WAIT": "0s", "PURSER_NOTIFICATIONS_HISTORY_INTERVAL": "1h",
        "PURSER_NOTIFICATIONS_HISTORY_FIRST_LOOK_BACK": "10d", "PURSER_RETENTION_NOTIFICATIONS": "7d",
        "PURSER_RETENTION_DELIVERIES": "8d", "PURSER_RETENTION_ATTEMPTS": "9d", "PURSER_RETENTION_EVENTS": "10d",
        "PURSER_RETENTION_RECEIPTS": "11d", "PURSER_RETENTION_SANDBOX": "12d", "PURSER_RECEIPTS_ACCEPT_SHA1": "true",
        "PURSER_RECEIPTS_KEEP_RAW": "true",
        "PURSER_RECEIPTS_USERS_PER_TRANSACTION": "9", "PURSER_RECEIPTS_WAIT": "7s",
    ]

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
