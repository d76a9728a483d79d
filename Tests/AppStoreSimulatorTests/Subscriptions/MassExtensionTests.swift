import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

/// Extend Subscription Renewal Dates for All Active Subscribers, and its status.
struct MassExtensionTests {
    private static let request = "0b0c8a5e-52a7-4d6f-8f55-4c0d5a4f1f0e"
    private static let day = SimulatorFixture.day

    private func body(_ more: [(String, JSONValue)] = []) -> JSONValue {
        var members: [String: JSONValue] = [
            "extendByDays": 10, "extendReasonCode": 3, "requestIdentifier": .string(Self.request), "productId": "gold",
        ]
        for (name, value) in more { members[name] = value }
        return .object(JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
    }

    private func begin(
        _ fixture: SimulatorFixture, _ body: JSONValue, in environment: SimulatedEnvironment = .sandbox
    ) async throws {
        let answer = try await fixture.answer(
            MassExtendRenewalDateResponse.self, .extendSubscriptionRenewalDatesForAllActiveSubscribers(),
            in: environment, body: body)
        #expect(answer.requestIdentifier == Self.request)
    }

    private func status(_ fixture: SimulatorFixture) async throws -> MassExtendRenewalDateStatusResponse {
        try await fixture.answer(
            MassExtendRenewalDateStatusResponse.self,
            .getStatusOfSubscriptionRenewalDateExtensions(productId: "gold", requestIdentifier: Self.request))
    }

    private func end(_ fixture: SimulatorFixture, _ id: String) throws -> Int64? {
        try fixture.state.transaction(id).expiresDate
    }

    @Test func `it goes from one subscriber to the next and ends`() async throws {
        try await SimulatorFixture.with { fixture in
            let ids = try (0..<3).map { _ in try #require(try fixture.subscribe().transactionId) }
            let other = try #require(try fixture.subscribe { $0.productId = "silver" }.transactionId)
            let far = try #require(try fixture.subscribe(in: .production).transactionId)
            let expired = try #require(try fixture.subscribe().transactionId)
            try fixture.state.expire(expired)
            let before = try #require(try end(fixture, ids[0]))
            try await begin(fixture, body())
            for done in 0..<3 {
                let status = try await status(fixture)
                #expect(status.requestIdentifier == Self.request && status.complete == false)
                #expect(status.completeDate == nil && status.succeededCount == nil && status.failedCount == nil)
                #expect(try ids.filter { try end(fixture, $0) != before }.count == done)
                try fixture.state.clock.advance(by: 1)
            }
            let status = try await status(fixture)
            #expect(status.complete == true && status.completeDate == fixture.state.clock.milliseconds)
            #expect(status.succeededCount == 3 && status.failedCount == 0)
            for id in ids { #expect(try end(fixture, id) == before + 10 * Self.day) }
            #expect(try end(fixture, other) == before && end(fixture, far) == before)
        }
    }

    @Test func `a repetition begins nothing new`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.massExtensionPace = 0
            let id = try #require(try fixture.subscribe().transactionId)
            try await begin(fixture, body())
            try await begin(fixture, body([("requestIdentifier", .string(Self.request.uppercased()))]))
            #expect(try await status(fixture).succeededCount == 1)
            let end = try end(fixture, id)
            try await begin(fixture, body([("extendByDays", 90)]))
            #expect(try await status(fixture).succeededCount == 1)
            #expect(try self.end(fixture, id) == end)
        }
    }

    @Test func `storefronts limit it`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.massExtensionPace = 0
            _ = try fixture.subscribe { $0.storefront = "DEU" }
            _ = try fixture.subscribe { $0.storefront = "FRA" }
            _ = try fixture.subscribe()
            try await begin(fixture, body([("storefrontCountryCodes", ["DEU", "FRA", "XKS"])]))
            #expect(try await status(fixture).succeededCount == 2)
        }
    }

    @Test func `without subscribers it ends all the same`() async throws {
        try await SimulatorFixture.with { fixture in
            try await begin(fixture, body())
            #expect(try await status(fixture).complete == false)
            try fixture.state.clock.advance(by: 1)
            let status = try await status(fixture)
            #expect(status.complete == true && status.succeededCount == 0 && status.failedCount == 0)
        }
    }

    @Test func `those that cannot be extended are counted and notified of`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                fixture.state.massExtensionPace = 0
                let good = try #require(try fixture.subscribe().transactionId)
                let free = try #require(try fixture.subscribe { $0.offerDiscountType = .freeTrial }.transactionId)
                try fixture.notify(receiver)
                try await begin(fixture, body([("storefrontCountryCodes", ["USA"])]))
                try await fixture.waitForAttempts(3)
                let status = try await status(fixture)
                #expect(status.succeededCount == 1 && status.failedCount == 1)
                let payloads = fixture.state.notifications.map(\.signedPayload)
                let sent = try payloads.map { try fixture.verifiedNotification($0) }
                let extended = try #require(sent.first { $0.notificationType == .renewalExtended })
                #expect(try fixture.verified(extended.data?.signedTransactionInfo).transactionId == good)
                let failed = try #require(sent.first { $0.subtype == .failure })
                #expect(failed.notificationType == .renewalExtension)
                #expect(try fixture.verified(failed.data?.signedTransactionInfo).transactionId == free)
                let last = try #require(sent.last)
                #expect(last.notificationType == .renewalExtension && last.subtype == .summary && last.data == nil)
                let summary = try #require(last.summary)
                #expect(summary.requestIdentifier == Self.request && summary.productId == "gold")
                #expect(summary.succeededCount == 1 && summary.failedCount == 1)
                #expect(summary.storefrontCountryCodes == ["USA"] && summary.environment == .sandbox)
            }
        }
    }

    @Test func `a body with a mistake gets the error of its field`() async throws {
        try await SimulatorFixture.with { fixture in
            let mistakes: [(String, JSONValue, APIErrorCode)] = [
                ("extendByDays", 0, .invalidExtendByDays), ("extendByDays", 91, .invalidExtendByDays),
                ("extendReasonCode", 4, .invalidExtendReasonCode),
                ("requestIdentifier", "outage-1", .invalidRequestIdentifier),
                ("requestIdentifier", nil, .invalidRequestIdentifier), ("productId", "", .invalidProductId),
                ("productId", nil, .invalidProductId),
                ("storefrontCountryCodes", [], .invalidEmptyStorefrontCountryCodeList),
                ("storefrontCountryCodes", ["US"], .invalidStorefrontCountryCode),
                ("storefrontCountryCodes", ["usa"], .invalidStorefrontCountryCode),
                ("storefrontCountryCodes", ["USA", 1], .invalidStorefrontCountryCode),
                ("storefrontCountryCodes", "USA", .invalidStorefrontCountryCode),
            ]
            for (name, value, error) in mistakes {
                try await fixture.expect(
                    error, from: .extendSubscriptionRenewalDatesForAllActiveSubscribers(),
                    body: body([(name, value)]).serialized())
            }
            try await begin(fixture, body([("storefrontCountryCodes", nil)]))
        }
    }

    @Test func `the status is known by app, environment, product and identifier`() async throws {
        try await SimulatorFixture.with { fixture in
            try await begin(fixture, body())
            _ = try await status(fixture)
            func endpoint(_ product: String, _ identifier: String) -> Endpoint {
                .getStatusOfSubscriptionRenewalDateExtensions(productId: product, requestIdentifier: identifier)
            }
            try await fixture.expect(.statusRequestNotFound, from: endpoint("silver", Self.request))
            try await fixture.expect(.statusRequestNotFound, from: endpoint("gold", UUID().uuidString))
            try await fixture.expect(.statusRequestNotFound, from: endpoint("gold", Self.request), in: .production)
            try await fixture.expect(.invalidRequestIdentifier, from: endpoint(Self.request, "gold"))
        }
    }

    @Test func `the control port shows it and sets its pace`() async throws {
        try await SimulatorFixture.with { fixture in
            #expect(
                try await fixture.control("PUT", "/extension-settings", ["secondsPerSubscription": 0.5]).status == 204)
            let settings = try await fixture.control("GET", "/extension-settings")
            #expect(try JSONValue(parsing: settings.body)["secondsPerSubscription"]?.double == 0.5)
            for wrong: JSONValue in [[:], ["secondsPerSubscription": -1], ["secondsPerSubscription": 86_401]] {
                #expect(try await fixture.control("PUT", "/extension-settings", wrong).status == 400)
            }
            _ = try fixture.subscribe()
            try await begin(fixture, body([("storefrontCountryCodes", ["USA"])]))
            func shown() async throws -> JSONValue? {
                try JSONValue(parsing: try await fixture.control("GET", "/mass-extensions").body)["massExtensions"]?[0]
            }
            #expect(try await shown()?["pending"]?.int64 == 1)
            try fixture.state.clock.advance(by: 0.5)
            let done = try await shown()
            #expect(done?["pending"]?.int64 == 0 && done?["succeededCount"]?.int64 == 1)
            #expect(done?["completeDate"]?.int64 == fixture.state.clock.milliseconds)
            #expect(done?["requestIdentifier"]?.string == Self.request && done?["extendByDays"]?.int64 == 10)
        }
    }
}
