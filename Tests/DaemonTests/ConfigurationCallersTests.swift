import Daemon
import Domain
import Testing

struct ConfigurationCallersTests {
    private static let digest = ConfigurationFixture.digest

    private func problems(_ callers: String) -> [ConfigurationProblem] {
        ConfigurationFixture.problems(ConfigurationFixture.minimal + "callers:\n" + callers)
    }

    @Test func aCallerHasATokenAndScopesPerApp() throws {
        let scopes = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        let text =
            ConfigurationFixture.minimal + """
                callers:
                  billing:
                    tokenSHA256: \(Self.digest.uppercased())
                    scopes: { coins: [\(scopes)] }
                """
        let callers = try ConfigurationFixture.configuration(text).callers
        #expect(callers.map(\.caller) == [Caller(name: "billing", scopes: ["coins": Set(Scope.allCases)])])
        #expect(callers.first?.configured.tokenDigests.map(\.count) == [32])
        #expect(callers.first?.configured.tokenDigests.first?.prefix(4) == [0xE3, 0xB0, 0xC4, 0x42])
    }

    @Test func scopesAndAppsThatDoNotExistAreReportedWithThoseThatDo() {
        let found = problems(
            "  billing:\n    tokenSHA256: \(Self.digest)\n    scopes: { coins: [refunds:write], gems: [] }\n")
        #expect(found.map(\.origin.line) == [17, 17])
        #expect(found.map(\.key) == ["callers.billing.scopes.coins[0]", "callers.billing.scopes.gems"])
        for scope in Scope.allCases { #expect(found.first?.message.contains("`\(scope.rawValue)`") == true) }
        #expect(found.last?.message == "No app is named `gems`. Known here: `coins`.")
    }

    @Test(arguments: [
        "abc", "prs_secretsecretsecretsecretsecretsecretsecretsecretsecretsecretse", String(repeating: "g", count: 64),
    ])
    func aTokenGivenInPlaceOfItsDigestIsNeverRepeated(token: String) {
        let found = problems("  billing: { tokenSHA256: \(token), scopes: { coins: [] } }\n")
        #expect(found.map(\.key) == ["callers.billing.tokenSHA256"])
        #expect(found.allSatisfy { !$0.description.contains(token) })
    }

    @Test func twoCallersHaveTwoTokens() {
        let found = problems(
            """
              billing: { tokenSHA256: \(Self.digest), scopes: { coins: [refunds:read] } }
              support: { tokenSHA256: \(Self.digest.uppercased()), scopes: { coins: [refunds:read] } }
            """)
        #expect(found.map(\.key) == ["callers.support.tokenSHA256"])
        #expect(found.map(\.origin.line) == [16])
    }

    @Test func aCallersNameIsASlug() {
        let found = problems("  Billing!: { tokenSHA256: \(Self.digest), scopes: { coins: [] } }\n")
        #expect(found.map(\.key) == ["callers.Billing!"])
    }
}
