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

    @Test func aCallerCanBeProvedByTwoTokensOrByItsConnection() throws {
        let other = String(repeating: "ab", count: 32)
        let text =
            ConfigurationFixture.minimal + """
                callers:
                  billing: { tokenSHA256: [\(Self.digest), \(other)], scopes: { coins: [] } }
                  shop:
                    clientCertificates: ["spiffe://example.org/shop"]
                    uids: [1000, 1001]
                    gids: [50]
                    scopes: { coins: [refunds:read] }
                """
        let callers = try ConfigurationFixture.configuration(text).callers.map(\.configured)
        #expect(callers.map(\.tokenDigests.count) == [2, 0])
        #expect(
            callers.last?.bindings == [
                .certificate(uri: "spiffe://example.org/shop"), .uid(1000), .uid(1001), .gid(50),
            ])
    }

    @Test func whatProvesNobodyOrTwoCallersIsReportedWhereItStands() {
        let found = problems(
            """
              idle: { scopes: { coins: [] } }
              many: { tokenSHA256: [\(Self.digest), \(String(repeating: "ab", count: 32)), \(String(repeating: "cd", count: 32))], scopes: { coins: [] } }
              none: { tokenSHA256: [], scopes: { coins: [] } }
              shop: { uids: [7, 4294967295], clientCertificates: [shop], scopes: { coins: [] } }
              twin: { uids: [7], scopes: { coins: [] } }

            """)
        #expect(found.map(\.origin.line) == [15, 16, 17, 18, 18, 19])
        #expect(
            Set(found.map(\.key)) == [
                "callers.idle.tokenSHA256", "callers.many.tokenSHA256", "callers.none.tokenSHA256",
                "callers.shop.uids[1]", "callers.shop.clientCertificates[0]", "callers.twin.uids[0]",
            ])
        #expect(found.last?.message == "The caller `shop` has the same user.")
    }

    @Test func whatLastsOfCredentialsCanBeSet() throws {
        let text =
            ConfigurationFixture.minimal + "access: { rotationGrace: 1h, expiryWarning: 0s, unusedWarning: 30d }\n"
        var policy = CallerPolicy()
        policy.rotationGrace = .seconds(3600)
        policy.expiryWarning = .zero
        policy.unusedWarning = .seconds(30 * 86_400)
        #expect(try ConfigurationFixture.configuration(text).access == policy)
        #expect(
            ConfigurationFixture.places(ConfigurationFixture.minimal + "access: { rotationGrace: 31d }\n") == [
                "14 access.rotationGrace"
            ])
    }
}
