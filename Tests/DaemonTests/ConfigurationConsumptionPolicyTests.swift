import Daemon
import Domain
import Testing

struct ConfigurationConsumptionPolicyTests {
    /// The policy's keys stand from line 8 on.
    private func yaml(_ policy: String) -> String {
        """
        store: sqlite:/a
        apple: { rootCertificates: [/a.cer] }
        apps:
          coins:
            bundleId: com.example.coins
            environments: [Sandbox]
            consumptionPolicy:
        \(policy)

        """
    }

    @Test func `a policy is read with the fields that Apple gets`() throws {
        let text = yaml(
            """
                  beforeDeadline: 2h
                  answer:
                    deliveryStatus: DELIVERED
                    sampleContentProvided: false
                    consumptionPercentage: 50000
                    refundPreference: GRANT_PRORATED
            """)
        let rule = try #require(try ConfigurationFixture.configuration(text).refundPolicies["coins"]?.rules.first)
        #expect(rule.lead == .seconds(7200) && rule.match == RefundMatch())
        #expect(
            rule.outcome
                == .answer(
                    .grantProrated,
                    RefundRule.Statement(
                        deliveryStatus: .delivered, sampleContentProvided: false, consumptionPercentage: 50_000)))
    }

    @Test func `what Apple does not need may be left out`() throws {
        let text = yaml(
            "      beforeDeadline: 5m\n      answer: { deliveryStatus: UNDELIVERED_OTHER, sampleContentProvided: true }"
        )
        let policy = try #require(try ConfigurationFixture.configuration(text).refundPolicies["coins"])
        #expect(
            policy.rules.map(\.outcome) == [
                .answer(nil, RefundRule.Statement(deliveryStatus: .undeliveredOther, sampleContentProvided: true))
            ])
    }

    @Test func `what is required is named where it belongs`() {
        #expect(
            ConfigurationFixture.places(yaml("      {}")) == [
                "7 apps.coins.consumptionPolicy.beforeDeadline", "7 apps.coins.consumptionPolicy.answer",
            ])
        #expect(
            ConfigurationFixture.places(yaml("      beforeDeadline: 1h\n      answer:")) == [
                "9 apps.coins.consumptionPolicy.answer.deliveryStatus",
                "9 apps.coins.consumptionPolicy.answer.sampleContentProvided",
            ])
    }

    @Test(arguments: [
        ("customerConsented: true", "customerConsented"), ("consumptionPercentage: 100001", "consumptionPercentage"),
        ("consumptionPercentage: 50%", "consumptionPercentage"), ("refundPreference: MAYBE", "refundPreference"),
    ])
    func `what is no field of an answer, or out of its range, is reported`(field: String, name: String) {
        let text = yaml(
            """
                  beforeDeadline: 1h
                  answer:
                    deliveryStatus: DELIVERED
                    sampleContentProvided: true
                    \(field)
            """)
        #expect(ConfigurationFixture.places(text) == ["12 apps.coins.consumptionPolicy.answer.\(name)"])
    }

    @Test func `Apple's rules for fields that go together hold here too`() {
        let text = yaml(
            """
                  beforeDeadline: 1h
                  answer:
                    deliveryStatus: UNDELIVERED_OTHER
                    sampleContentProvided: true
                    consumptionPercentage: 1
            """)
        #expect(
            ConfigurationFixture.places(text) == ["12 apps.coins.consumptionPolicy.answer.consumptionPercentage"])
    }

    @Test(arguments: ["4m", "13h"])
    func `a policy acts within the time that Apple gives`(time: String) {
        let text = yaml(
            "      beforeDeadline: \(time)\n      answer: { deliveryStatus: DELIVERED, sampleContentProvided: true }")
        #expect(ConfigurationFixture.places(text) == ["8 apps.coins.consumptionPolicy.beforeDeadline"])
    }
}
