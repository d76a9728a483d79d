import Daemon
import Domain
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
        let configuration = try ConfigurationFixture.configuration(
            ConfigurationFixture.minimal, environment: ConfigurationFixture.everyVariable)
        let api = try #require(configuration.listeners.api)
        #expect(
            api
                == ListenerSettings(
                    address: .unix(path: "/run/api.sock", mode: 0o660), group: "services", maximumConnections: 7,
                    maximumRequests: 6,
                    maximumHeaderBytes: 2048, maximumBodyBytes: 3072, idleTimeout: .seconds(9)))
        #expect(configuration.listeners.admin == nil)
        #expect(configuration.listeners.health?.address == .tcp(host: "0.0.0.0", port: 9090))
        #expect(
            configuration.apple
                == AppleConfiguration(
                    rootCertificateFiles: ["/etc/purser/AppleRootCA-G3.cer"],
                    upstream: CustomUpstream(production: "https://localhost:1", sandbox: "https://localhost:2"),
                    certificateAuthorityFile: "/ca.pem", proxy: "http://proxy:3128", connectTimeout: .seconds(1),
                    attemptTimeout: .seconds(2), deadline: .seconds(3), maximumResponseBytes: 1 << 20,
                    rateLimits: RateLimitConfiguration(sandboxShare: 11, reservedShare: 0)))
        #expect(configuration.shutdown == ShutdownConfiguration(drainDelay: .seconds(4), timeout: .seconds(5)))
        #expect(configuration.snapshots == SnapshotConfiguration(lifetime: .seconds(60), maximumBytes: 2 << 20))
        #expect(configuration.listeners.webhook?.address == .tcp(host: "::", port: 8081))
        #expect(
            configuration.listeners.webhook?.tls
                == ListenerTLS(
                    certificateChainFile: "/chain.pem", privateKeyFile: "/key.pem",
                    clientCertificates: .init(authoritiesFile: "/clients.pem", isRequired: false)))
        #expect(configuration.deliveries == DeliveriesConfiguration(concurrency: 8, wait: .zero))
        #expect(
            configuration.notifications
                == NotificationsConfiguration(
                    history: HistorySearch.Schedule(
                        interval: .seconds(3600), firstLookBack: .seconds(864_000))))
        let retention = configuration.retention
        let days = [retention.notifications, retention.deliveries, retention.attempts, retention.events]
        #expect(days == [7, 8, 9, 10].map { .seconds($0 * 86_400) })
    }
}
