import Daemon
import Listener
import Logging
import Testing

/// Flags over environment over file over defaults.
struct ConfigurationPrecedenceTests {
    private let withLevel = ConfigurationFixture.minimal + "log: { level: error }\n"

    @Test func aFlagWinsOverTheEnvironmentWhichWinsOverTheFile() throws {
        let environment = ["PURSER_LOG_LEVEL": "debug", "PURSER_STORE": "sqlite:/from/environment.db"]
        let fromFile = try ConfigurationFixture.configuration(withLevel)
        #expect(fromFile.logLevel == .error)
        let fromEnvironment = try ConfigurationFixture.configuration(withLevel, environment: environment)
        #expect(fromEnvironment.logLevel == .debug)
        #expect(fromEnvironment.store == .sqlite(path: "/from/environment.db"))
        let flags = ConfigurationFlags(store: "sqlite:/from/flag.db", logLevel: "trace")
        let fromFlags = try ConfigurationFixture.configuration(withLevel, flags: flags, environment: environment)
        #expect(fromFlags.logLevel == .trace)
        #expect(fromFlags.store == .sqlite(path: "/from/flag.db"))
    }

    @Test func aBadValueIsBlamedOnWhoeverGaveIt() {
        let problems = ConfigurationFixture.problems(
            withLevel, flags: ConfigurationFlags(logLevel: "loud"),
            environment: ["PURSER_STORE": "mysql:x", "PURSER_LISTENERS_API_MAXIMUM_BODY_BYTES": "big"])
        #expect(
            problems.map(\.origin) == [
                .environment("PURSER_STORE"), .flag("--log-level"),
                .environment("PURSER_LISTENERS_API_MAXIMUM_BODY_BYTES"),
            ])
        #expect(problems.map(\.key) == ["store", "log.level", "listeners.api.maximumBodyBytes"])
    }

    @Test func anOverrideMendsABadValueInTheFile() throws {
        let yaml = ConfigurationFixture.minimal + "log: { level: loud }\n"
        #expect(ConfigurationFixture.places(yaml) == ["14 log.level"])
        let mended = try ConfigurationFixture.configuration(yaml, environment: ["PURSER_LOG_LEVEL": "notice"])
        #expect(mended.logLevel == .notice)
    }

    @Test func anUnknownVariableWithOurPrefixIsAProblem() {
        let problems = ConfigurationFixture.problems(
            ConfigurationFixture.minimal,
            environment: ["PURSER_LOG_LEVLE": "debug", "PURSER_APPS_COINS_BUNDLE_ID": "x", "HOME": "/root"])
        #expect(
            problems.map(\.origin) == [
                .environment("PURSER_APPS_COINS_BUNDLE_ID"), .environment("PURSER_LOG_LEVLE"),
            ])
        #expect(problems.last?.message == "No setting has this name. Did you mean `PURSER_LOG_LEVEL`?")
    }

    @Test func everySettingHasItsVariable() throws {
        let environment = [
            "PURSER_STORE": "sqlite:/e.db", "PURSER_LOG_LEVEL": "warning",
            "PURSER_LISTENERS_API_ADDRESS": "unix:/run/api.sock", "PURSER_LISTENERS_API_MODE": "0660",
            "PURSER_LISTENERS_API_MAXIMUM_CONNECTIONS": "7", "PURSER_LISTENERS_API_MAXIMUM_HEADER_BYTES": "2KiB",
            "PURSER_LISTENERS_API_MAXIMUM_BODY_BYTES": "3KiB", "PURSER_LISTENERS_API_IDLE_TIMEOUT": "9s",
            "PURSER_LISTENERS_ADMIN_ADDRESS": "none", "PURSER_LISTENERS_HEALTH_ADDRESS": "0.0.0.0:9090",
            "PURSER_APPLE_UPSTREAM_PRODUCTION": "https://localhost:1",
            "PURSER_APPLE_UPSTREAM_SANDBOX": "https://localhost:2/",
            "PURSER_APPLE_CERTIFICATE_AUTHORITY_FILE": "/ca.pem", "PURSER_APPLE_PROXY": "http://proxy:3128",
            "PURSER_APPLE_CONNECT_TIMEOUT": "1s", "PURSER_APPLE_ATTEMPT_TIMEOUT": "2s", "PURSER_APPLE_DEADLINE": "3s",
            "PURSER_APPLE_MAXIMUM_RESPONSE_BYTES": "1MiB", "PURSER_SHUTDOWN_DRAIN_DELAY": "4s",
            "PURSER_SHUTDOWN_TIMEOUT": "5s", "PURSER_SNAPSHOTS_LIFETIME": "1m",
            "PURSER_SNAPSHOTS_MAXIMUM_BYTES": "2MiB",
        ]
        let configuration = try ConfigurationFixture.configuration(
            ConfigurationFixture.minimal, environment: environment)
        let api = try #require(configuration.listeners.api)
        #expect(
            api
                == ListenerSettings(
                    address: .unix(path: "/run/api.sock", mode: 0o660), maximumConnections: 7, maximumHeaderBytes: 2048,
                    maximumBodyBytes: 3072, idleTimeout: .seconds(9)))
        #expect(configuration.listeners.admin == nil)
        #expect(configuration.listeners.health?.address == .tcp(host: "0.0.0.0", port: 9090))
        #expect(
            configuration.apple
                == AppleConfiguration(
                    rootCertificateFiles: ["/etc/purser/AppleRootCA-G3.cer"],
                    upstream: CustomUpstream(production: "https://localhost:1", sandbox: "https://localhost:2"),
                    certificateAuthorityFile: "/ca.pem", proxy: "http://proxy:3128", connectTimeout: .seconds(1),
                    attemptTimeout: .seconds(2), deadline: .seconds(3), maximumResponseBytes: 1 << 20))
        #expect(configuration.shutdown == ShutdownConfiguration(drainDelay: .seconds(4), timeout: .seconds(5)))
        #expect(configuration.snapshots == SnapshotConfiguration(lifetime: .seconds(60), maximumBytes: 2 << 20))
    }
}
