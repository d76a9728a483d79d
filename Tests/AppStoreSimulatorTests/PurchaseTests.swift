import AppStoreAPI
import Foundation
import Testing

@testable import AppStoreSimulator

struct PurchaseTests {
    private static let now: Int64 = 1_800_000_000_000
    private static let app = "com.example.coins"

    /// A state with one app and the accounts `ann` and `bob` of one family, and `eve` of none.
    private func makeState(seed: UInt64 = 1) throws -> SimulatorState {
        let state = SimulatorState(seed: seed) { Date(timeIntervalSince1970: 1_800_000_000) }
        try state.register(RegisteredApp(bundleID: Self.app, appAppleID: 1, issuerID: "team"))
        try state.createAccount("ann", in: .sandbox, family: "f")
        try state.createAccount("bob", in: .sandbox, family: "f")
        try state.createAccount("eve", in: .sandbox)
        return state
    }

    private func purchase(_ type: ProductType) -> TransactionPayload {
        var purchase = TransactionPayload()
        purchase.bundleId = Self.app
        purchase.productId = "product"
        purchase.type = type
        return purchase
    }

    @Test func `a purchase gets what Apple assigns`() throws {
        let state = try makeState()
        var wanted = purchase(.consumable)
        wanted.appAccountToken = "7E3FB204-2E2E-4D4B-A1E0-6E6B5B8F1D11"
        let bought = try state.buy(wanted, by: "ann")
        #expect(bought.transactionId == bought.originalTransactionId)
        #expect(bought.purchaseDate == Self.now)
        #expect(bought.originalPurchaseDate == Self.now)
        #expect(bought.appAccountToken == "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11")
        #expect(bought.inAppOwnershipType == .purchased)
        #expect(bought.transactionReason == .purchase)
        #expect(bought.environment == .sandbox)
        #expect(bought.quantity == 1)
        #expect(bought.webOrderLineItemId == nil)
        #expect(bought.expiresDate == nil)
    }

    @Test func `two users can buy on one account, one user on two`() throws {
        let state = try makeState()
        func buy(_ token: String, by account: String) throws -> TransactionPayload {
            var wanted = purchase(.consumable)
            wanted.appAccountToken = token
            return try state.buy(wanted, by: account)
        }
        let alice = UUID().uuidString
        let first = try buy(alice, by: "ann")
        let second = try buy(UUID().uuidString, by: "ann")
        let third = try buy(alice, by: "eve")
        #expect(first.appTransactionId == second.appTransactionId)
        #expect(first.appAccountToken != second.appAccountToken)
        #expect(first.appAccountToken == third.appAccountToken)
        #expect(first.appTransactionId != third.appTransactionId)
    }

    @Test func `a renewal is a transaction and line item of its own in the same subscription`() throws {
        let state = try makeState()
        var wanted = purchase(.autoRenewableSubscription)
        wanted.expiresDate = Self.now + 1000
        wanted.offerType = .introductoryOffer
        let first = try state.buy(wanted, by: "ann")
        let second = try state.renew(#require(first.transactionId))
        let third = try state.renew(#require(first.transactionId))
        #expect(second.originalTransactionId == first.transactionId)
        #expect(second.originalPurchaseDate == first.purchaseDate)
        #expect(second.purchaseDate == first.expiresDate)
        #expect(third.purchaseDate == second.expiresDate)
        #expect(third.expiresDate == Self.now + 3000)
        #expect(Set([first, second, third].map(\.webOrderLineItemId)).count == 3)
        #expect(Set([first, second, third].map(\.transactionId)).count == 3)
        #expect(second.transactionReason == .renewal)
        #expect(first.offerType == .introductoryOffer)
        #expect(second.offerType == nil)
    }

    @Test func `an upgrade marks the period that it replaces`() throws {
        let state = try makeState()
        let first = try #require(try state.buy(purchase(.autoRenewableSubscription), by: "ann").transactionId)
        let upgraded = try state.upgrade(first, to: "gold", price: 9990)
        #expect(try state.transaction(first).isUpgraded == true)
        #expect(upgraded.isUpgraded == nil)
        #expect(upgraded.productId == "gold")
        #expect(upgraded.price == 9990)
        #expect(upgraded.originalTransactionId == first)
        #expect(throws: ControlError.self) { try state.upgrade(first, to: "gold") }
    }

    @Test func `a restored purchase is the same purchase under another transaction id`() throws {
        let state = try makeState()
        for type in [ProductType.nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription] {
            let first = try state.buy(purchase(type), by: "ann")
            let again = try state.restore(#require(first.transactionId))
            #expect(again.transactionId != first.transactionId)
            #expect(again.originalTransactionId == first.originalTransactionId)
            #expect(again.webOrderLineItemId == first.webOrderLineItemId)
            #expect(again.originalPurchaseDate == first.originalPurchaseDate)
            try state.refund(#require(again.transactionId))
            #expect(try state.transaction(#require(first.transactionId)).revocationType == .refundFull)
        }
        let coins = try #require(try state.buy(purchase(.consumable), by: "ann").transactionId)
        #expect(throws: ControlError.self) { try state.restore(coins) }
    }

    @Test func `refunding one period of a subscription leaves the others`() throws {
        let state = try makeState()
        let first = try #require(try state.buy(purchase(.autoRenewableSubscription), by: "ann").transactionId)
        let second = try #require(try state.renew(first).transactionId)
        try state.refund(second)
        #expect(try state.transaction(first).revocationDate == nil)
        #expect(try state.transaction(second).revocationDate == Self.now)
    }

    @Test func `a shared purchase has identifiers of its own and no token`() throws {
        let state = try makeState()
        var wanted = purchase(.autoRenewableSubscription)
        wanted.appAccountToken = UUID().uuidString
        let bought = try state.buy(wanted, by: "ann")
        let shared = try state.share(#require(bought.transactionId), with: "bob")
        #expect(shared.inAppOwnershipType == .familyShared)
        #expect(shared.appAccountToken == nil)
        #expect(shared.originalTransactionId == shared.transactionId)
        #expect(shared.appTransactionId != bought.appTransactionId)
        #expect(shared.webOrderLineItemId != bought.webOrderLineItemId)
        #expect(shared.purchaseDate == bought.purchaseDate)
    }

    @Test func `a refund ends the sharing, its reversal restores it`() throws {
        let state = try makeState()
        let id = try #require(try state.buy(purchase(.nonConsumable), by: "ann").transactionId)
        let shared = try state.share(id, with: "bob")
        let sharedID = try #require(shared.transactionId)
        try state.refund(id, Refund(reason: .issue))
        let lost = try state.transaction(sharedID)
        #expect(lost.revocationType == .familyRevoke)
        #expect(lost.revocationReason == .otherReason)
        #expect(lost.revocationPercentage == nil)
        try state.reverseRefund(id)
        #expect(try state.transaction(sharedID) == shared)
    }

    @Test func `what cannot be is refused`() throws {
        let state = try makeState()
        let coins = try #require(try state.buy(purchase(.consumable), by: "ann").transactionId)
        let pass = try #require(try state.buy(purchase(.nonConsumable), by: "ann").transactionId)
        let shared = try #require(try state.share(pass, with: "bob").transactionId)
        try state.createAccount("far", in: .production, family: "f")
        let attempts: [() throws -> Void] = [
            { _ = try state.buy(purchase(.consumable), by: "nobody") }, { _ = try state.renew(coins) },
            { _ = try state.upgrade(coins, to: "gold") }, { _ = try state.share(coins, with: "bob") },
            { _ = try state.share(pass, with: "eve") }, { _ = try state.share(pass, with: "ann") },
            { _ = try state.share(pass, with: "far") }, { _ = try state.share(shared, with: "ann") },
            { _ = try state.refund(shared) }, { _ = try state.reverseRefund(coins) },
            { _ = try state.refund(coins, Refund(percentage: 0)) },
            { _ = try state.refund(coins, Refund(percentage: 100_001)) }, { _ = try state.refund("1") },
            { try state.createAccount("ann", in: .sandbox) },
        ]
        for attempt in attempts { #expect(throws: ControlError.self) { try attempt() } }
        try state.refund(coins)
        #expect(throws: ControlError.self) { try state.refund(coins) }
    }

    @Test func `a purchase that makes no sense is refused`() throws {
        let state = try makeState()
        let changes: [(inout TransactionPayload) -> Void] = [
            { $0.bundleId = nil }, { $0.bundleId = "com.example.unknown" }, { $0.productId = nil }, { $0.type = nil },
            { $0.type = ProductType(rawValue: "Rental") }, { $0.quantity = 0 }, { $0.quantity = 11 },
            { $0.appAccountToken = "alice" }, { $0.transactionId = "1" }, { $0.environment = .production },
            { $0.revocationDate = 1 }, { $0.inAppOwnershipType = .familyShared }, { $0.expiresDate = Self.now + 1 },
            { $0.subscriptionGroupIdentifier = "1" },
            {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = Self.now
            },
        ]
        for change in changes {
            var wrong = purchase(.consumable)
            change(&wrong)
            #expect(throws: ControlError.self) { try state.buy(wrong, by: "ann") }
        }
    }

    @Test func `the same seed gives the same identifiers`() throws {
        func identifiers(_ seed: UInt64) throws -> [String?] {
            let state = try makeState(seed: seed)
            let bought = try state.buy(purchase(.autoRenewableSubscription), by: "ann")
            return [bought.transactionId, bought.webOrderLineItemId, bought.appTransactionId]
        }
        #expect(try identifiers(3) == identifiers(3))
        #expect(try identifiers(3) != identifiers(4))
    }

    @Test func `a reset forgets everything but the seed`() throws {
        let state = try makeState()
        let before = try state.buy(purchase(.consumable), by: "ann").transactionId
        state.inject(Fault(.garbage))
        state.pageSize = 3
        state.reset()
        #expect(state.faults.entries.isEmpty)
        #expect(state.pageSize == 20)
        #expect(throws: ControlError.self) { try state.transaction(#require(before)) }
        try state.register(RegisteredApp(bundleID: Self.app, appAppleID: 1, issuerID: "team"))
        try state.createAccount("ann", in: .sandbox)
        #expect(try state.buy(purchase(.consumable), by: "ann").transactionId == before)
    }
}
