import Daemon
import Domain
import Glibc
import KeyCustody
import TestSupport
import Testing

struct ConfigurationAppsTests {
    private func yaml(_ apps: String) -> String {
        "store: sqlite:/a\napple: { rootCertificates: [/a.cer] }\napps:\n" + apps
    }

    @Test func anAppIsReadWhole() throws {
        let text = yaml(
            """
              gems: { bundleId: com.example.gems, environments: [Sandbox] }
              coins:
                bundleId: com.example.coins
                appAppleId: 1234567890
                additionalConsumptionFields: [newField]
                userIDs: appAccountToken
                ignoredTokens: [7E57C0DE-1234-5678-9ABC-DEF012345678]
                guardianBlocksConsumption: false
                minimumWordingVersion: 2026-05-25
                appFamilyId: 9F2C1D3E-5A4B-4C6D-8E7F-001122334455
            """)
        let apps = try ConfigurationFixture.configuration(text).apps
        #expect(
            apps == [
                App(
                    slug: "coins", bundleID: "com.example.coins", appAppleID: 1_234_567_890,
                    environments: [.production, .sandbox], additionalConsumptionFields: ["newField"],
                    userIDs: .appAccountToken, ignoredTokens: ["7e57c0de-1234-5678-9abc-def012345678"],
                    guardianBlocksConsumption: false, minimumWordingVersion: "2026-05-25",
                    appFamilyID: "9f2c1d3e-5a4b-4c6d-8e7f-001122334455"),
                App(slug: "gems", bundleID: "com.example.gems", environments: [.sandbox]),
            ])
    }

    @Test(arguments: ["Coins", "-coins", "co_ins", "co ins", "münzen", String(repeating: "a", count: 64)])
    func aSlugIsShortAndLowerCase(slug: String) {
        let text = yaml("  \"\(slug)\": { bundleId: a.b, environments: [Sandbox] }\n")
        // A name that is so long without a break may be a key, so it is not repeated.
        let shown = slug.utf8.count > 39 ? "(not shown)" : slug
        #expect(ConfigurationFixture.places(text) == ["4 apps.\(shown)"])
    }

    @Test(arguments: ["c", "0", "coins-2", String(repeating: "a", count: 63)])
    func everyOtherSlugIsTaken(slug: String) {
        #expect(ConfigurationFixture.places(yaml("  \"\(slug)\": { bundleId: a.b, environments: [Sandbox] }\n")) == [])
    }

    @Test func productionNeedsApplesNumberOfTheApp() {
        #expect(ConfigurationFixture.places(yaml("  coins:\n    bundleId: a.b\n")) == ["4 apps.coins.appAppleId"])
        #expect(ConfigurationFixture.places(yaml("  coins:\n    bundleId: a.b\n    environments: [Sandbox]\n")) == [])
    }

    @Test func valuesThatAppleWouldNotKnowAreReported() {
        let text = yaml(
            """
              coins:
                bundleId: com/example
                appAppleId: -5
                environments: [Xcode, Sandbox, Sandbox]
                additionalConsumptionFields: ["new field"]
                userIDs: accountToken
                ignoredTokens: [nobody, 7E57C0DE-1234-5678-9ABC-DEF012345678, 7e57c0de-1234-5678-9abc-def012345678]
                guardianBlocksConsumption: sometimes
                minimumWordingVersion: third
                appFamilyId: coins
              gems:
                bundleId: com.example.gems
                environments: []
            """)
        #expect(
            ConfigurationFixture.places(text) == [
                "5 apps.coins.bundleId", "6 apps.coins.appAppleId", "7 apps.coins.environments[0]",
                "7 apps.coins.environments[2]", "8 apps.coins.additionalConsumptionFields[0]",
                "9 apps.coins.userIDs", "10 apps.coins.ignoredTokens[0]", "10 apps.coins.ignoredTokens[2]",
                "11 apps.coins.guardianBlocksConsumption", "12 apps.coins.minimumWordingVersion",
                "13 apps.coins.appFamilyId", "16 apps.gems.environments",
            ])
    }

    @Test func whatIsLeftOutIsCautious() throws {
        let text = yaml("  gems: { bundleId: a.b, environments: [Sandbox] }\n")
        let app = try #require(try ConfigurationFixture.configuration(text).apps.first)
        #expect(!app.areUserIDsTokens)
        #expect(app.ignoredTokens == [App.nilToken])
        #expect(app.guardianBlocksConsumption)
        #expect(app.minimumWordingVersion == nil)
    }

    @Test(arguments: [100, 101]) func soManyTokensCanBeIgnored(count: Int) {
        let tokens = (0..<count).map { "7e57c0de-0000-4000-8000-\(String(100_000_000_000 + $0))" }
        let text = yaml(
            """
              gems:
                bundleId: a.b
                environments: [Sandbox]
                ignoredTokens: [\(tokens.joined(separator: ", "))]
            """)
        #expect(ConfigurationFixture.places(text) == (count > 100 ? ["7 apps.gems.ignoredTokens"] : []))
    }

    @Test func twoAppsHaveTwoBundleIDs() {
        let text = yaml(
            """
              coins: { bundleId: a.b, environments: [Sandbox] }
              gems: { bundleId: a.b, environments: [Sandbox] }
            """)
        #expect(ConfigurationFixture.places(text) == ["5 apps.gems.bundleId"])
    }

    /// So many apps, with one key and one caller for all of them.
    private func many(_ slugs: [String]) -> String {
        let apps = slugs.map { "  \($0): {bundleId: com.example.\($0), environments: [Sandbox]}" }
        let scopes = slugs.enumerated().map { "      \($1): \($0 == 0 ? "&all [transactions:read]" : "*all")" }
        return yaml(
            """
            \(apps.joined(separator: "\n"))
            keys:
              - id: 2X9R4HXF34
                issuer: 57246542-96fe-1a63-e053-0824d011072a
                file: /a.p8
                apps: [\(slugs.joined(separator: ", "))]
            callers:
              shop:
                tokenSHA256: \(ConfigurationFixture.digest)
                scopes:
            \(scopes.joined(separator: "\n"))
            """)
    }

    /// The processor time that reading takes on this thread, which is the same on a busy machine.
    private func read(_ text: String) throws -> (configuration: DaemonConfiguration, seconds: Double) {
        let start = ThreadTime.seconds
        let configuration = try ConfigurationFixture.configuration(text)
        return (configuration, ThreadTime.seconds - start)
    }

    @Test func tenThousandAppsAreReadWithTheirKeyAndTheScopesOfACaller() throws {
        let slugs = (0..<10_000).map { "app\($0)" }
        let few = many(Array(slugs.prefix(1000)))
        let secondsForFew = try (0..<3).map { _ in try read(few).seconds }.min() ?? 0
        let (configuration, seconds) = try read(many(slugs))
        #expect(configuration.apps.count == 10_000)
        #expect(configuration.keys.first?.apps == slugs)
        #expect(configuration.callers.first?.caller.scopes.count == 10_000)
        #expect(configuration.warnings.isEmpty)
        // Ten times as many: work that grew with their square would take a hundred times as long.
        #expect(seconds < 40 * secondsForFew)
    }

    @Test func noAppAndAnAppWithoutAnActiveKeyAreWarnedOf() throws {
        let none = try ConfigurationFixture.configuration("store: sqlite:/a\napple: { rootCertificates: [/a.cer] }\n")
        #expect(none.warnings.map(\.key) == ["apps"])
        let keyless = try ConfigurationFixture.configuration(
            yaml("  coins: { bundleId: a.b, environments: [Sandbox] }\n"))
        #expect(keyless.warnings.map(\.key) == ["apps.coins"])
        #expect(keyless.warnings.last?.origin.line == 4)
    }
}
