import Daemon
import Domain
import Testing

struct ConfigurationRefundPolicyTests {
    /// The policy's rules stand from line 8 on.
    private func yaml(_ rules: String, besides: String = "") -> String {
        """
        store: sqlite:/a
        apple: { rootCertificates: [/a.cer] }
        apps:
          coins:
            bundleId: com.example.coins
            environments: [Sandbox]
            refundPolicy:
        \(rules)
        \(besides)
        """
    }

    @Test func `rules are read in their order`() throws {
        let text = yaml(
            """
                  - rule: never-used
                    match: { productTypes: [Consumable], consumptionPercentage: { below: 1 } }
                    beforeDeadline: 2h
                    answer: { refundPreference: GRANT_FULL }
                  - rule: rest
                    atOnce: true
                    silence: true
            """)
        let rules = try #require(try ConfigurationFixture.configuration(text).refundPolicies["coins"]).rules
        #expect(rules.map(\.name) == ["never-used", "rest"] && rules.map(\.lead) == [.seconds(7200), nil])
        #expect(rules[0].match.productTypes == [.consumable] && rules[0].match.consumptionPercentage == .init(below: 1))
        #expect(rules.map(\.outcome) == [.answer(.grantFull, RefundRule.Statement()), .silence])
    }

    @Test func `what is wrong is named at its line`() {
        let text = yaml(
            """
                  - rule: never-used
                    match:
                      storefronts: [USA, America]
                    answer: {}
                  - rule: rest
                    when: soon
                    silence: true
            """)
        #expect(
            ConfigurationFixture.places(text) == [
                "10 apps.coins.refundPolicy[0].match.storefronts[1]", "13 apps.coins.refundPolicy[1].when",
            ])
    }

    @Test func `rules that nothing reaches are no configuration`() {
        let text = yaml(
            """
                  - rule: first
                    silence: true
                  - rule: second
                    silence: true
            """)
        #expect(
            ConfigurationFixture.places(text).map { $0.split(separator: " ").last } == ["apps.coins.refundPolicy[1]"])
    }

    @Test func `there is one policy`() {
        let text = yaml(
            "      - { rule: a, silence: true }",
            besides:
                "    consumptionPolicy: { beforeDeadline: 1h, answer: { deliveryStatus: DELIVERED, sampleContentProvided: true } }"
        )
        #expect(ConfigurationFixture.places(text) == ["7 apps.coins.refundPolicy"])
    }
}
