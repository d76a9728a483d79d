import Daemon
import Foundation
import Logging
import Testing

/// What the file itself can have wrong, whatever it says.
struct ConfigurationFileTests {
    @Test func theSmallestFileIsValidAndHasTheDocumentedDefaults() throws {
        let configuration = try ConfigurationFixture.configuration(ConfigurationFixture.minimal)
        #expect(configuration.store == .sqlite(path: "/var/lib/purser/purser.db"))
        #expect(configuration.logLevel == .info)
        #expect(configuration.shutdown == ShutdownConfiguration(drainDelay: .zero, timeout: .seconds(30)))
        #expect(configuration.snapshots == SnapshotConfiguration(lifetime: .seconds(600), maximumBytes: 67_108_864))
        #expect(configuration.callers.isEmpty)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func aSyntaxErrorNamesItsLineAndColumn() {
        let problems = ConfigurationFixture.problems("store: sqlite:/a\nlog: {level: info\napple: x\n")
        #expect(problems.count == 1)
        #expect(problems.first?.origin == .file("purser.yaml", line: 3, column: 6))
        #expect(problems.first?.message.hasPrefix("This is no YAML: ") == true)
    }

    @Test(arguments: ["", "# nothing but a comment\n", "just text\n", "- a\n- list\n"])
    func aFileThatIsNoTableIsRefused(yaml: String) {
        #expect(ConfigurationFixture.places(yaml) == ["- "])
    }

    @Test func everyUnknownKeyIsReportedWithWhatWasProbablyMeant() {
        let problems = ConfigurationFixture.problems(
            ConfigurationFixture.minimal + """
                lgo: { level: debug }
                listeners:
                  api: { adress: "127.0.0.1:1" }
                  internal: { address: "127.0.0.1:2" }
                """)
        #expect(
            problems.map(\.description) == [
                "purser.yaml:14:1: lgo: Unknown key. Did you mean `log`?",
                "purser.yaml:16:10: listeners.api.adress: Unknown key. Did you mean `address`?",
                "purser.yaml:17:3: listeners.internal: Unknown key. Known here: `admin`, `api`, `appleProduction`, `appleSandbox`, `grpc`, `grpcAdmin`, `health`, `webhook`.",
            ])
    }

    @Test func unknownKeysInsideListsAndNamedTablesAreReported() {
        let yaml = """
            store: sqlite:/a
            apple: { rootCertificates: [/a.cer] }
            apps:
              coins: { bundleId: com.example.coins, environments: [Sandbox], bundleID: x }
            keys:
              - { id: A1, issuer: 57246542-96fe-1a63-e053-0824d011072a, file: /a.p8, apps: [coins] }
              - { id: A2, issuer: 57246542-96fe-1a63-e053-0824d011072a, file: /b.p8, apps: [coins], state: standby,
                  app: coins }
            callers:
              billing: { tokenSHA256: \(ConfigurationFixture.digest), scopes: {}, scope: {} }
            """
        #expect(
            ConfigurationFixture.places(yaml) == ["4 apps.coins.bundleID", "8 keys[1].app", "10 callers.billing.scope"])
    }

    @Test func keysGivenTwiceAreReportedTogetherWithEverythingElse() {
        let yaml = """
            store: sqlite:/a
            log: { level: info, level: debug }
            store: sqlite:/b
            apple:
              rootCertificates: [/a.cer]
              "proxy": "http://a:1"
              unknown: 1
              'proxy': "http://b:1"
            store: sqlite:/c
            """
        let problems = ConfigurationFixture.problems(yaml)
        #expect(
            problems.map(\.description) == [
                "purser.yaml:2:21: log.level: This key is already given on line 2.",
                "purser.yaml:3:1: store: This key is already given on line 1.",
                "purser.yaml:7:3: apple.unknown: Unknown key. " + knownUnderApple,
                "purser.yaml:8:3: apple.proxy: This key is already given on line 6.",
                "purser.yaml:9:1: store: This key is already given on line 1.",
            ])
    }

    private var knownUnderApple: String {
        """
        Known here: `attemptTimeout`, `certificateAuthorityFile`, `connectTimeout`, `deadline`, \
        `maximumResponseBytes`, `proxy`, `rateLimits`, `rootCertificates`, `upstream`.
        """
    }

    @Test func valuesOfTheWrongKindAreReportedOnce() {
        let yaml = """
            store: [sqlite:/a]
            log: info
            listeners:
              api: "127.0.0.1:8080"
              admin: { maximumConnections: { a: 1 } }
            apple:
              rootCertificates: /a.cer
              deadline:
            apps: [coins]
            keys: { id: A1 }
            callers: none
            """
        #expect(
            ConfigurationFixture.places(yaml) == [
                "1 store", "2 log", "4 listeners.api", "5 listeners.admin.maximumConnections",
                "7 apple.rootCertificates", "8 apple.deadline", "9 apps", "10 keys", "11 callers",
            ])
    }

    @Test func whatIsRequiredIsNamedWhereItBelongs() {
        let yaml = """
            apple: { deadline: 20s }
            apps:
              coins: {}
            keys:
              - id: A1
            callers:
              billing:
            """
        #expect(
            ConfigurationFixture.places(yaml) == [
                "- store", "1 apple.rootCertificates", "3 apps.coins.bundleId", "3 apps.coins.appAppleId",
                "5 keys[0].issuer", "5 keys[0]", "5 keys[0].apps", "7 callers.billing.tokenSHA256",
                "7 callers.billing.scopes",
            ])
    }

    @Test func anAliasThatExpandsWithoutEndIsRefused() {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            yaml +=
                "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
                + "]\n"
        }
        #expect(ConfigurationFixture.problems(yaml).map(\.message) == ["The file has more than 1000000 elements."])
    }

    @Test func tenThousandAppsWithScopesOfTheirOwnAreNotTooMany() {
        let apps = (0..<10_000).map { "app\($0)" }
        let yaml = """
            apps:
            \(apps.map { "  \($0): { bundleId: com.example.\($0), appAppleId: 1 }" }.joined(separator: "\n"))
            callers:
              all:
                scopes:
            \(apps.map { "      \($0): \($0 == "app0" ? "&all [consumption:write, refunds:read, transactions:read, usage:read, usage:write, receipts:write, links:write]" : "*all")" }
                .joined(separator: "\n"))
            """
        // What is missing in it is told, and nothing of its size.
        let messages = ConfigurationFixture.problems(yaml).map(\.message)
        #expect(!messages.isEmpty && !messages.contains { $0.contains("elements") }, "\(messages.prefix(3))")
    }

    @Test func aFileThatCannotBeReadIsNamedWithTheReason() {
        #expect(
            throws: ConfigurationError(problems: [
                ConfigurationProblem(
                    .file("/nowhere/purser.yaml"), "The file cannot be read: No such file or directory.")
            ])
        ) {
            try DaemonConfiguration.load(file: "/nowhere/purser.yaml", environment: [:])
        }
    }

    @Test func aFolderATooLongFileAndBytesThatAreNoTextAreRefused() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let long = folder.appending(path: "long.yaml")
        try Data(repeating: UInt8(ascii: "#"), count: ConfigurationDefaults.maximumFileBytes + 1).write(to: long)
        let binary = folder.appending(path: "binary.yaml")
        try Data([0x73, 0xFF, 0xFE]).write(to: binary)
        for (path, reason) in [
            (folder.path(), "regular file"), (long.path(), "more than 8388608 bytes"), (binary.path(), "no UTF-8"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try DaemonConfiguration.load(file: path, environment: [:])
            }
            #expect(error?.description.contains(reason) == true)
        }
    }
}
