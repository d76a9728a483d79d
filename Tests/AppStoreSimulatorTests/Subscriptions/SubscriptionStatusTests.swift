import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// Get All Subscription Statuses.
struct SubscriptionStatusTests {
    @Test func `an active subscription shows with its renewal`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"
            let bought = try fixture.subscribe { $0.appAccountToken = token }
            let id = try #require(bought.transactionId)
            let (item, transaction, renewalInfo) = try await fixture.subscription(id)
            #expect(item.status == .active && item.originalTransactionId == id)
            #expect(transaction.transactionId == id && transaction.signedDate == fixture.clock.milliseconds)
            #expect(renewalInfo.originalTransactionId == id && renewalInfo.productId == "gold")
            #expect(renewalInfo.autoRenewProductId == "gold" && renewalInfo.autoRenewStatus == .on)
            #expect(renewalInfo.renewalDate == bought.expiresDate && renewalInfo.renewalPrice == bought.price)
            #expect(renewalInfo.currency == "USD" && renewalInfo.environment == .sandbox)
            #expect(renewalInfo.signedDate == fixture.clock.milliseconds)
            #expect(renewalInfo.appAccountToken == token)
            #expect(renewalInfo.appTransactionId == bought.appTransactionId)
            #expect(renewalInfo.recentSubscriptionStartDate == bought.purchaseDate)
            #expect(renewalInfo.expirationIntent == nil && renewalInfo.isInBillingRetryPeriod == nil)
        }
    }

    @Test func `groups hold the latest transaction of each subscription`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            func subscribe(_ product: String, in group: String) throws -> String {
                try #require(
                    try fixture.buy(by: account) {
                        $0.productId = product
                        $0.type = .autoRenewableSubscription
                        $0.subscriptionGroupIdentifier = group
                    }.transactionId)
            }
            let gold = try subscribe("gold", in: "1")
            let radio = try subscribe("radio", in: "2")
            let silver = try subscribe("silver", in: "1")
            let coins = try fixture.buy(by: account)
            let renewed = try fixture.state.renew(gold)
            for identifier in [gold, silver, renewed.transactionId, coins.transactionId, coins.appTransactionId] {
                let answer = try await fixture.answer(
                    StatusResponse.self, .getAllSubscriptionStatuses(transactionId: try #require(identifier)))
                #expect(answer.environment == .sandbox && answer.bundleId == SimulatorFixture.bundleID)
                #expect(answer.appAppleId == 1_234_567_890)
                let groups = try #require(answer.data)
                #expect(groups.map(\.subscriptionGroupIdentifier) == ["1", "2"])
                #expect(groups[0].lastTransactions?.map(\.originalTransactionId) == [gold, silver])
                #expect(groups[1].lastTransactions?.map(\.originalTransactionId) == [radio])
                let latest = try fixture.verified(groups[0].lastTransactions?.first?.signedTransactionInfo)
                #expect(latest.transactionId == renewed.transactionId)
            }
        }
    }

    @Test func `each status follows what happens, and can be asked for`() async throws {
        try await SimulatorFixture.with { fixture in
            let state = fixture.state
            let account = try state.createAccount(in: .sandbox).id
            func subscribe() throws -> String {
                try #require(try fixture.buy(by: account) { $0.type = .autoRenewableSubscription }.transactionId)
            }
            let expired = try subscribe()
            try state.expire(expired)
            let retried = try subscribe()
            try state.failBilling(retried)
            let graced = try subscribe()
            try state.failBilling(graced, gracePeriod: SimulatorFixture.day)
            let revoked = try subscribe()
            try state.refund(revoked)
            let active = try subscribe()
            let all = [active: 1, expired: 2, retried: 3, graced: 4, revoked: 5] as [String: Int32]
            func statuses(_ wanted: [Int32]) async throws -> [String?: Int32?] {
                let answer = try await fixture.answer(
                    StatusResponse.self, .getAllSubscriptionStatuses(transactionId: active, statuses: wanted))
                let items = answer.data?.flatMap { $0.lastTransactions ?? [] } ?? []
                return Dictionary(uniqueKeysWithValues: items.map { ($0.originalTransactionId, $0.status?.rawValue) })
            }
            #expect(try await statuses([]) == all)
            for status in Int32(1)...5 {
                #expect(try await statuses([status]) == all.filter { $0.value == status })
            }
            #expect(try await statuses([2, 5]) == all.filter { [2, 5].contains($0.value) })
        }
    }

    @Test func `without subscriptions the list is empty`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let answer = try await fixture.answer(
                StatusResponse.self, .getAllSubscriptionStatuses(transactionId: id))
            #expect(answer.data == [])
        }
    }

    @Test(arguments: ["0", "6", "", "active", "1.0", "1,2"])
    func `a status that does not exist is refused`(status: String) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            let endpoint = Endpoint(
                .getAllSubscriptionStatuses, [id], query: [.init("status", "1"), .init("status", status)])
            try await fixture.expect(.invalidStatus, from: endpoint)
        }
    }

    @Test func `identifiers are judged as everywhere`() async throws {
        try await SimulatorFixture.with { fixture in
            let far = try #require(try fixture.subscribe(in: .production).transactionId)
            try await fixture.expect(.invalidTransactionId, from: .getAllSubscriptionStatuses(transactionId: "1x"))
            for id in ["1", far] {
                try await fixture.expect(.transactionIdNotFound, from: .getAllSubscriptionStatuses(transactionId: id))
            }
        }
    }

    @Test(arguments: [Tampering.wrongEnvironment, .wrongSignature])
    func `faults tamper with renewal information too`(tampering: Tampering) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            fixture.state.inject(Fault(.tampering(tampering)))
            let answer = try await fixture.answer(
                StatusResponse.self, .getAllSubscriptionStatuses(transactionId: id))
            let signed = answer.data?.first?.lastTransactions?.first?.signedRenewalInfo
            guard tampering == .wrongEnvironment else {
                #expect(throws: (any Error).self) { try fixture.verifiedPayload(signed) }
                return
            }
            #expect(try RenewalInfoPayload(parsing: fixture.verifiedPayload(signed)).environment == .production)
        }
    }
}
