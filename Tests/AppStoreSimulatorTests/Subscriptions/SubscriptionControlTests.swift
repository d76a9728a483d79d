import AppStoreAPI
import AppStoreSimulator
import JSON
import Testing

/// Subscriptions at the control port.
struct SubscriptionControlTests {
    private func control(
        _ fixture: SimulatorFixture, _ method: String, _ id: String, _ what: String, _ body: JSONValue? = nil
    ) async throws -> (status: Int, body: JSONValue) {
        let answer = try await fixture.control(method, "/transactions/\(id)/\(what)", body)
        return (answer.status, try JSONValue(parsing: answer.body))
    }

    private func status(_ fixture: SimulatorFixture, _ id: String) async throws -> Int64? {
        try await control(fixture, "GET", id, "subscription").body["status"]?.int64
    }

    @Test func `a subscription goes through all its states`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            #expect(try await status(fixture, id) == 1)
            let failed = try await control(fixture, "POST", id, "billing-failure", ["gracePeriodSeconds": 60])
            #expect(failed.status == 200)
            #expect(try await status(fixture, id) == 4)
            try fixture.state.clock.advance(by: 60)
            #expect(try await status(fixture, id) == 3)
            let recovered = try await control(fixture, "POST", id, "renewals")
            #expect(recovered.status == 201 && recovered.body["originalTransactionId"]?.string == id)
            #expect(try await status(fixture, id) == 1)
            let expired = try await control(fixture, "POST", id, "expiry", ["expirationIntent": 3])
            #expect(expired.status == 200)
            let shown = try await control(fixture, "GET", id, "subscription").body
            #expect(shown["status"]?.int64 == 2 && shown["renewalInfo"]?["expirationIntent"]?.int64 == 3)
            let again = try await control(
                fixture, "POST", id, "resubscriptions", ["productId": "silver", "price": 990])
            #expect(again.status == 201 && again.body["productId"]?.string == "silver")
            #expect(try await status(fixture, id) == 1)
            let latest = try #require(again.body["transactionId"]?.string)
            #expect(try await control(fixture, "POST", latest, "refund", [:]).status == 201)
            #expect(try await status(fixture, id) == 5)
            #expect(try await control(fixture, "POST", id, "expiry").status == 409)
        }
    }

    @Test func `plans change at once or at the renewal`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            func next() async throws -> String? {
                let shown = try await control(fixture, "GET", id, "subscription").body
                return shown["renewalInfo"]?["autoRenewProductId"]?.string
            }
            let down = try await control(fixture, "POST", id, "downgrades", ["productId": "silver"])
            #expect(down.status == 200 && down.body["productId"]?.string == "gold")
            #expect(try await next() == "silver")
            #expect(try await control(fixture, "DELETE", id, "downgrades").status == 200)
            #expect(try await next() == "gold")
            let later = try await control(
                fixture, "POST", id, "crossgrades", ["productId": "gold.year", "price": 49_990, "atRenewal": true])
            #expect(later.status == 200)
            #expect(try await next() == "gold.year")
            let now = try await control(fixture, "POST", id, "crossgrades", ["productId": "radio"])
            #expect(now.status == 201 && now.body["productId"]?.string == "radio")
            let up = try await control(fixture, "POST", id, "upgrades", ["productId": "platinum"])
            #expect(up.status == 201 && up.body["productId"]?.string == "platinum")
            #expect(try await next() == "platinum")
            #expect(try await control(fixture, "POST", id, "downgrades", [:]).status == 400)
        }
    }

    @Test func `what happens by itself is set for each subscription`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            let set = try await control(
                fixture, "PUT", id, "subscription",
                ["autoRenew": true, "renewsByItself": true, "billingFails": true, "gracePeriodSeconds": 86_400])
            #expect(set.status == 200 && set.body["renewsByItself"]?.bool == true)
            #expect(set.body["billingFails"]?.bool == true && set.body["gracePeriodSeconds"]?.int64 == 86_400)
            let moved = try await fixture.control("PUT", "/clock", ["advanceSeconds": .number(JSONNumber(30 * 86_400))])
            #expect(moved.status == 200)
            #expect(try await status(fixture, id) == 4)
            let off = try await control(fixture, "PUT", id, "subscription", ["autoRenew": false])
            #expect(off.body["renewalInfo"]?["autoRenewStatus"]?.int64 == 0)
            for wrong: JSONValue in [["autoRenew": 1], ["gracePeriodSeconds": -1], ["renews": true]] {
                #expect(try await control(fixture, "PUT", id, "subscription", wrong).status == 400)
            }
            let coins = try #require(try fixture.buyOnce().transactionId)
            #expect(try await control(fixture, "GET", coins, "subscription").status == 409)
            #expect(try await control(fixture, "GET", "1", "subscription").status == 404)
        }
    }

    @Test func `with a clock that runs faster it renews while one waits`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            try fixture.state.set(SubscriptionSettings(renewsByItself: true), of: id)
            try fixture.state.clock.setScale(86_400)
            // 65 days in 65 seconds, which pass at once.
            fixture.clock.advance(by: 65)
            let (_, transaction, _) = try await fixture.subscription(id)
            #expect(transaction.transactionReason == .renewal)
            #expect(transaction.purchaseDate == fixture.clock.milliseconds - 65_000 + 60 * SimulatorFixture.day)
        }
    }

    @Test func `what is due happens without anybody asking`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                let id = try #require(try fixture.subscribe().transactionId)
                try fixture.notify(receiver)
                try fixture.state.set(SubscriptionSettings(renewsByItself: true), of: id)
                for count in 1...2 {
                    try fixture.state.clock.advance(by: 30 * 86_400)
                    try await fixture.waitForAttempts(count)
                }
                let sent = try fixture.state.notifications.map { try fixture.verifiedNotification($0.signedPayload) }
                #expect(sent.map(\.notificationType) == [.didRenew, .didRenew])
                #expect(sent.last?.data?.status == .active)
                let renewalInfo = try RenewalInfoPayload(
                    parsing: fixture.verifiedPayload(sent.last?.data?.signedRenewalInfo))
                #expect(renewalInfo.renewalDate == fixture.state.clock.milliseconds + 30 * SimulatorFixture.day)
            }
        }
    }

    @Test func `sharing ends for one member`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe(family: "f").transactionId)
            let first = try #require(try fixture.share(id, family: "f").transactionId)
            let second = try #require(try fixture.share(id, family: "f").transactionId)
            let ended = try await control(fixture, "DELETE", first, "share")
            #expect(ended.status == 200 && ended.body["revocationType"]?.string == "FAMILY_REVOKE")
            #expect(try await status(fixture, first) == 5)
            #expect(try await status(fixture, second) == 1)
            #expect(try await control(fixture, "DELETE", id, "share").status == 409)
        }
    }
}
