import Domain
import Foundation
import Logging
import TestSupport
import Testing

@testable import Daemon

struct ConfigurationRateLimitsTests {
    private func yaml(_ rateLimits: String) -> String {
        "store: sqlite:/a\napple:\n  rootCertificates: [/a.cer]\n  rateLimits:\n" + rateLimits
    }

    @Test func `what is left out is as Apple publishes it`() throws {
        let rates = try ConfigurationFixture.configuration(ConfigurationFixture.minimal).apple.rateLimits
        #expect(rates == RateLimitConfiguration(requestsPerSecond: [:], sandboxShare: 10, reservedShare: 20))
    }

    @Test func `rates are named by the titles of Apple's pages, and shares are percentages`() throws {
        let text = yaml(
            """
                sandboxShare: 25%
                reservedShare: 0%
                requestsPerSecond:
                  Get Refund History: 20
                  "Finish Transaction": 1

            """)
        let rates = try ConfigurationFixture.configuration(text).apple.rateLimits
        #expect(
            rates
                == RateLimitConfiguration(
                    requestsPerSecond: ["Get Refund History": 20, "Finish Transaction": 1], sandboxShare: 25,
                    reservedShare: 0))
    }

    @Test func `a call that Apple does not have is reported, with the nearest that it has`() {
        let found = ConfigurationFixture.problems(
            yaml("    requestsPerSecond:\n      Get Refund Histroy: 20\n      Other: 1\n"))
        #expect(found.map(\.key).first == "apple.rateLimits.requestsPerSecond.Get Refund Histroy")
        #expect(found.first?.message == "Unknown key. Did you mean `Get Refund History`?")
        #expect(found.count == 2)
    }

    @Test(arguments: [
        ("    sandboxShare: 10\n", "sandboxShare"), ("    sandboxShare: 0%\n", "sandboxShare"),
        ("    sandboxShare: 101%\n", "sandboxShare"), ("    reservedShare: 91%\n", "reservedShare"),
        ("    reservedShare: 1.5%\n", "reservedShare"),
        ("    requestsPerSecond: { Get Refund History: 0 }\n", "requestsPerSecond.Get Refund History"),
        ("    requestsPerSecond: 5\n", "requestsPerSecond"),
    ])
    func `values out of range are reported where they are`(text: String, key: String) {
        #expect(ConfigurationFixture.places(yaml(text)) == ["5 apple.rateLimits.\(key)"])
    }

    @Test func `a caller can have a quota`() throws {
        let caller = "  billing: { tokenSHA256: \(ConfigurationFixture.digest), scopes: { coins: [] }, callsPerHour: "
        let text = ConfigurationFixture.minimal + "callers:\n" + caller
        #expect(try ConfigurationFixture.configuration(text + "500 }\n").callers.map(\.callsPerHour) == [500])
        #expect(ConfigurationFixture.places(text + "0 }\n") == ["15 callers.billing.callsPerHour"])
    }

    @Test func `the policy has Apple's limits for both environments, and what the configuration changes`()
        throws
    {
        let text =
            ConfigurationFixture.minimal.replacing(
                "  rootCertificates:",
                with: "  rateLimits: { requestsPerSecond: { Get Refund History: 20 } }\n  rootCertificates:") + """
                callers:
                  billing: { tokenSHA256: \(ConfigurationFixture.digest), scopes: { coins: [] }, callsPerHour: 500 }

                """
        let configuration = try ConfigurationFixture.configuration(text)
        let policy = RatePolicy(configuration)
        let production = try #require(policy.limits[.production])
        let sandbox = try #require(policy.limits[.sandbox])
        #expect(production["Get Refund History"] == RateLimit(callsPerHour: 72_000))
        #expect(sandbox["Get Refund History"] == RateLimit(callsPerHour: 7200))
        #expect(production["Send Consumption Information"] == RateLimit(callsPerHour: 180_000, reservedPercent: 20))
        #expect(sandbox["Send Consumption Information V1"] == RateLimit(callsPerHour: 18_000, reservedPercent: 20))
        #expect(production["Get Transaction Info"]?.reserved == 36_000)
        #expect(production["Look Up Order ID"]?.callsPerHour == 36_000)
        #expect(sandbox["Look Up Order ID"] == nil)
        #expect(production["Finish Transaction"] == nil)
        #expect(production.count == 20)
        #expect(policy.quotas == ["billing": 500])
    }
}
