import AppStoreAPI
import AppStoreSimulator
import Curl
import JOSE
import JSON
import Testing

struct RateLimitTests {
    private func status(
        _ fixture: SimulatorFixture, _ endpoint: Endpoint = .getRefundHistory(transactionId: "1"),
        in environment: SimulatedEnvironment = .sandbox
    ) async throws -> Int {
        try await fixture.call(endpoint, in: environment).status
    }

    @Test func `beyond the limit calls are refused until the window ends`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.rateLimits = [RateLimitRule(operation: .getRefundHistory, limit: 2)]
            fixture.clock.advance(by: 600)
            #expect(try await status(fixture) == 404)
            #expect(try await status(fixture) == 404)
            let response = try await fixture.call(.getRefundHistory(transactionId: "1"))
            #expect(response.status == 429)
            #expect(try ErrorPayload(parsing: response.body).errorCode == 4_290_000)
            let retryAfter = try #require(response.headers["Retry-After"].flatMap { RetryAfter(headerValue: $0) })
            #expect(retryAfter.millisecondsSince1970 == fixture.clock.milliseconds + 3_000_000)
            fixture.clock.advance(by: 2999)
            #expect(try await status(fixture) == 429)
            fixture.clock.advance(by: 1)
            #expect(try await status(fixture) == 404)
        }
    }

    @Test func `endpoints, environments and apps are counted apart`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.rateLimits = [RateLimitRule(limit: 1)]
            try fixture.state.register(
                RegisteredApp(bundleID: "com.example.other", appAppleID: 2, issuerID: SimulatorFixture.issuerID))
            #expect(try await status(fixture) == 404)
            #expect(try await status(fixture) == 429)
            #expect(try await status(fixture, in: .production) == 404)
            #expect(try await status(fixture, .getTransactionInfo(transactionId: "1")) == 404)
            let token = try fixture.token { $0.others["bid"] = "com.example.other" }
            let other = try await fixture.call(.getRefundHistory(transactionId: "1"), token: token)
            #expect(other.status == 404)
        }
    }

    @Test func `a call with a bad token does not count`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.rateLimits = [RateLimitRule(limit: 1)]
            let bad = try fixture.token { $0.issuer = "other" }
            #expect(try await fixture.call(.getRefundHistory(transactionId: "1"), token: bad).status == 401)
            #expect(try await status(fixture) == 404)
        }
    }

    @Test func `the sandbox allows a tenth of Apple's hourly rate`() {
        #expect(RateLimitRule.published(for: .getRefundHistory, in: .production)?.limit == 36_000)
        #expect(RateLimitRule.published(for: .getRefundHistory, in: .sandbox)?.limit == 3_600)
        #expect(RateLimitRule.published(for: .getTransactionHistory, in: .production)?.limit == 180_000)
        #expect(RateLimitRule.published(for: .sendConsumptionInformation, in: .sandbox)?.windowSeconds == 3_600)
    }

    @Test func `a call for which Apple publishes no rate has none until one is set`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            let endpoint = Endpoint.finishTransaction(transactionId: "1")
            #expect(RateLimitRule.published(for: .finishTransaction, in: .production) == nil)
            #expect(try await status(fixture, endpoint) == 404)
            fixture.state.rateLimits = [RateLimitRule(operation: .finishTransaction, limit: 0)]
            #expect(try await status(fixture, endpoint) == 429)
        }
    }

    @Test func `limits are set and lifted at the control port`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            let limits: JSONValue = [
                "rateLimits": [
                    ["environment": "Sandbox", "endpoint": "Get Refund History", "limit": 0, "windowSeconds": 60]
                ]
            ]
            #expect(try await fixture.control("PUT", "/rate-limits", limits).status == 204)
            #expect(try JSONValue(parsing: try await fixture.control("GET", "/rate-limits").body) == limits)
            #expect(try await status(fixture) == 429)
            #expect(try await fixture.control("DELETE", "/rate-limits").status == 204)
            #expect(try await status(fixture) == 404)
        }
    }
}
