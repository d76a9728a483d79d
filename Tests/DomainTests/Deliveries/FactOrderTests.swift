import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What becomes known late counts as if it had been known in time.
struct FactOrderTests {
    private static let token = "C0000000-0000-4000-8000-00000000000A"
    private let app = DeliveryFixture.app
    private let purchase = Transaction.sample(id: "1", account: "A")

    @Test func `an answer that came before its case joins it, with its deadline, and ends when it is declined`()
        async throws
    {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let early = try await fixture.send()
            #expect(early.caseID == nil)
            fixture.advance(by: .seconds(60))
            let refundCase = try await fixture.openCase(purchase, signedAt: fixture.now.addingTimeInterval(-90))
            let joined = try #require(try await fixture.store.store.delivery(app: "coins", id: early.id))
            #expect(joined.caseID == refundCase.id && joined.deadline == refundCase.deadline)
            let other = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(other?.reason == .deliveryUnderWay && other?.delivery?.id == early.id)
            _ = try await fixture.services.refunds.cases.decline(
                app: app, id: refundCase.id, note: nil, caller: "billing")
            #expect(try await fixture.store.store.delivery(app: "coins", id: early.id)?.state == .cancelled)
        }
    }

    @Test func `an answer that Apple accepted before its case opened answers it`() async throws {
        try await DeliveryFixture.with { fixture in
            let early = try await fixture.send(wait: .seconds(5))
            #expect(early.state == .accepted)
            let refundCase = try await fixture.openCase(purchase)
            #expect(refundCase.state == .answered)
            let same = try await fixture.send()
            #expect(same.id == early.id)
        }
    }

    @Test func `a different answer to what nobody has asked yet must wait`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let first = try await fixture.send()
            #expect(try await fixture.send().id == first.id)
            let failure = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(failure?.reason == .deliveryUnderWay)
        }
    }

    @Test(arguments: ["REFUND", "REFUND_DECLINED"])
    func `a decision ends an answer whose request nobody has told`(type: String) async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let delivery = try await fixture.send()
            fixture.advance(by: .seconds(60))
            try await fixture.notify(type, purchase, signedAt: fixture.now)
            #expect(try await fixture.store.store.delivery(app: "coins", id: delivery.id)?.state == .cancelled)
            guard type == "REFUND" else { return }
            let failure = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(failure?.reason == .caseClosed)
        }
    }

    @Test func `a decision that comes after a second request ends what answered the first`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let first = try await fixture.openCase(purchase)
            let old = try await fixture.send()
            fixture.advance(by: .seconds(600))
            let decidedAt = fixture.now
            fixture.advance(by: .seconds(600))
            try await fixture.notify("CONSUMPTION_REQUEST", purchase, signedAt: fixture.now)
            try await fixture.notify("REFUND_DECLINED", purchase, signedAt: decidedAt)
            #expect(try await fixture.store.store.delivery(app: "coins", id: old.id)?.state == .cancelled)
            let new = try await fixture.send()
            let id = try #require(new.caseID)
            let second = try #require(try await fixture.store.store.refundCase(app: "coins", id: id))
            #expect(second.id != first.id && second.state == .open)
        }
    }

    @Test func `a decision about another transaction id of the purchase is about the purchase`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            let restored = Transaction.sample(id: "2", original: "1", account: "A")
            try await fixture.notify("REFUND", restored, signedAt: fixture.now.addingTimeInterval(1))
            #expect(try await fixture.store.store.refundCase(app: "coins", id: refundCase.id)?.state == .decided)
        }
    }

    @Test func `an earlier request moves the end of the case and of its answer`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            fixture.advance(by: .seconds(7200))
            _ = try await fixture.openCase(purchase)
            let delivery = try await fixture.send()
            try await fixture.notify(
                "CONSUMPTION_REQUEST", purchase, signedAt: fixture.now.addingTimeInterval(-3600))
            let end = fixture.now.addingTimeInterval(11 * 3600)
            let moved = try #require(try await fixture.store.store.delivery(app: "coins", id: delivery.id))
            #expect(moved.deadline == end)
            #expect(try await fixture.store.store.refundCase(app: "coins", id: moved.caseID ?? "")?.deadline == end)
        }
    }

    @Test func `a request that comes when a case has expired reopens it, and whoever answers is warned`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            fixture.advance(by: .seconds(13 * 3600))
            #expect(try await fixture.store.store.expireCases(at: fixture.now, limit: 10).map(\.id) == [refundCase.id])
            try await fixture.notify("CONSUMPTION_REQUEST", purchase, signedAt: fixture.now)
            let reopened = try #require(try await fixture.store.store.refundCase(app: "coins", id: refundCase.id))
            #expect(reopened.state == .open && reopened.isLate)
            #expect(reopened.deadline == fixture.now.addingTimeInterval(12 * 3600))
            let delivery = try await fixture.send(.refundCase(refundCase.id))
            #expect(delivery.warnings.count == 1 && delivery.deadline == reopened.deadline)
        }
    }

    @Test func `a request does not reopen what was declined`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            _ = try await fixture.services.refunds.cases.decline(
                app: app, id: refundCase.id, note: nil, caller: "billing")
            fixture.advance(by: .seconds(13 * 3600))
            try await fixture.notify("CONSUMPTION_REQUEST", purchase, signedAt: fixture.now)
            let declined = try #require(try await fixture.store.store.refundCase(app: "coins", id: refundCase.id))
            #expect(declined.state == .declined && !declined.isLate)
        }
    }
}

// MARK: Whose it is

extension FactOrderTests {
    private func setToken(_ token: String, of original: String, _ fixture: DeliveryFixture) async throws {
        try await fixture.store.store.recordToken(
            token, of: original, app: "coins", environment: .production, at: fixture.now)
    }

    @Test func `a token that Apple accepted names the owner, whose withdrawal counts`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            try await fixture.record(Self.token, isConsented: false)
            try await setToken(Self.token, of: "1", fixture)
            #expect(
                try await fixture.store.store.refundCase(app: "coins", id: refundCase.id)?.owner?.value == Self.token)
            let failure = try await fixture.failure { try await fixture.send() }
            #expect(failure?.reason == .consentWithdrawn)
        }
    }

    @Test func `what Apple signed before a token was accepted does not undo it, what it signs later does`() async throws
    {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            func owner() async throws -> String? {
                try await fixture.store.store.latestCase(app: "coins", transactionID: "1", environment: nil)?.owner?
                    .value
            }
            try await fixture.record(Self.token, isConsented: true)
            try await setToken(Self.token, of: "1", fixture)
            let start = fixture.now.timeIntervalSince1970
            _ = try await fixture.openCase(.sample(id: "1", account: "A", signed: start - 60))
            #expect(try await owner() == Self.token)
            let other = "d0000000-0000-4000-8000-00000000000d"
            try await fixture.record(other, isConsented: true)
            try await fixture.notify(
                "CONSUMPTION_REQUEST", .sample(id: "1", account: "A", token: other, signed: start + 60),
                signedAt: fixture.now.addingTimeInterval(60))
            #expect(try await owner() == other)
        }
    }

    @Test func `an accepted token is of the present renewal and of later ones, not of an earlier one`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let start = fixture.now.timeIntervalSince1970
            func renewal(_ number: Int) -> Transaction {
                Transaction(
                    transactionID: "s\(number)", originalTransactionID: "s1", webOrderLineItemID: "w\(number)",
                    appTransactionID: "A", appAccountToken: "e0000000-0000-4000-8000-00000000000e",
                    productType: .autoRenewableSubscription,
                    purchaseDate: Date(timeIntervalSince1970: start + Double(number - 2) * 1000),
                    expiresDate: Date(timeIntervalSince1970: start + Double(number - 1) * 1000),
                    signedDate: Date(timeIntervalSince1970: start - 10), environment: .production,
                    payload: Array("{}".utf8), signed: "a.b.c")
            }
            try await fixture.record("e0000000-0000-4000-8000-00000000000e", isConsented: true)
            try await fixture.record(Self.token, isConsented: true)
            try await setToken(Self.token, of: "s1", fixture)
            let owners = [1, 2, 3].map(renewal)
            var found: [String?] = []
            for transaction in owners { found.append(try await fixture.openCase(transaction).owner?.value) }
            #expect(found == ["e0000000-0000-4000-8000-00000000000e", Self.token, Self.token])
        }
    }

    @Test func `a user who is heard of later owns what Apple signed before with the user's id as token`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(.sample(id: "1", account: "A", token: Self.token))
            #expect(refundCase.owner == nil)
            try await fixture.record(Self.token, isConsented: true)
            let sqlite = fixture.store.store
            #expect(try await sqlite.refundCase(app: "coins", id: refundCase.id)?.owner?.value == Self.token)
            let links = try await sqlite.links(app: "coins", user: UserID(Self.token))
            #expect(Set(links.map(\.target.kind)) == [.transactionId, .originalTransactionId, .appTransactionId])
        }
    }

    @Test func `ids that are one UUID in two spellings are one user`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            _ = try await fixture.openCase(.sample(id: "1", account: "A", token: Self.token))
            for spelling in [Self.token, Self.token.lowercased()] {
                try await fixture.record(spelling, isConsented: true)
            }
            var ids: Set<String> = []
            for spelling in [Self.token, Self.token.lowercased()] {
                let user = try UserID(spelling)
                ids.insert(try await fixture.send(.user(user, transactionID: "1")).id)
            }
            #expect(ids.count == 1)
            let outcome = try await fixture.record(Self.token, isConsented: false)
            #expect(outcome.cancelled.map(\.id) == Array(ids))
            let failure = try await fixture.failure {
                try await fixture.send(.user(UserID(Self.token.lowercased()), transactionID: "1"))
            }
            #expect(failure?.reason == .consentWithdrawn)
        }
    }

    @Test func `where an account is unknown and one was rescinded, Apple is asked, and the delivery says so`()
        async throws
    {
        let purchases = [Transaction.sample(id: "1"), .sample(id: "2", account: "A")]
        try await DeliveryFixture.with(accounts: [[purchases[0]], [purchases[1]]]) { fixture in
            let rescission = StoredNotification(
                app: "coins",
                notification: AppleNotification(
                    notificationUUID: "r", notificationType: "RESCIND_CONSENT", subtype: nil,
                    signedDate: fixture.now.milliseconds, environment: .production, payload: Array("{}".utf8),
                    signed: "n.n.n", transaction: nil, renewalInfo: nil, appTransaction: nil, appTransactionID: "A"),
                source: .webhook, receivedAt: fixture.now)
            _ = try await fixture.store.store.record(rescission)
            // Both cases were opened by data that names no account.
            for id in ["1", "2"] { _ = try await fixture.openCase(.sample(id: id)) }
            let sent = try await fixture.send(.transaction("1"), wait: .seconds(5))
            #expect(sent.state == .accepted && sent.warnings.count == 1)
            let failure = try await fixture.failure { try await fixture.send(.transaction("2"), wait: .seconds(5)) }
            #expect(failure?.reason == .consentWithdrawn)
            #expect(fixture.gateway.handOvers.map(\.message.transactionID) == ["1"])
        }
    }

    @Test func `what a policy answered is sent only with the present owner's consent`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            try await fixture.link("1", to: "alice")
            try await fixture.record("alice", isConsented: true)
            let refundCase = try await fixture.openCase(purchase)
            let request = ConsumptionService.Request(
                caller: RefundPolicy.caller, target: .refundCase(refundCase.id), answer: DeliveryFixture.answer())
            let call = UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + Wait.limit)
            let delivery = try await fixture.consumption.send(request, call)
            #expect(try await fixture.store.store.obstacle(to: delivery, at: fixture.now).obstacle == nil)
            _ = try await fixture.store.store.declare(
                try Link.sample(.transactionId, "1", user: "bob"), transfer: true)
            #expect(
                try await fixture.store.store.obstacle(to: delivery, at: fixture.now).obstacle?.reason
                    == .consentWithdrawn)
            let shown = try #require(try await fixture.store.store.delivery(app: "coins", id: delivery.id))
            #expect(shown.presentUser?.value == "bob" && shown.acceptedFor?.value == "alice" && !shown.isReportShown)
        }
    }
}

// MARK: What callers repeat

extension FactOrderTests {
    @Test func `a key that was answered with an earlier delivery is remembered with it`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            _ = try await fixture.openCase(purchase)
            let first = try await fixture.send()
            #expect(try await fixture.send(key: "k", content: "a").id == first.id)
            _ = try await fixture.deliveries.cancel(app: app, id: first.id, caller: "billing")
            let again = try await fixture.failure { try await fixture.send(key: "k", content: "a") }
            #expect(again?.reason == .deliveryEnded && again?.delivery?.id == first.id)
            let other = try await fixture.failure { try await fixture.send(key: "k", content: "b") }
            #expect(other?.reason == .idempotencyKeyReused)
        }
    }

    @Test func `a user's answer that Apple has accepted is shown again, a different one finds no open case`()
        async throws
    {
        try await DeliveryFixture.with { fixture in
            try await fixture.link("1", to: "alice")
            _ = try await fixture.openCase(purchase)
            let user = try UserID("alice")
            let accepted = try await fixture.send(.user(user, transactionID: nil), wait: .seconds(5))
            #expect(accepted.state == .accepted)
            #expect(try await fixture.send(.user(user, transactionID: nil)).id == accepted.id)
            let other = try await fixture.failure {
                try await fixture.send(.user(user, transactionID: nil), answer: DeliveryFixture.answer(5))
            }
            #expect(other?.reason == .noOpenCase && other?.deliveries.map(\.id) == [accepted.id])
            #expect(other?.cases.map(\.state) == [.answered])
            fixture.advance(by: .seconds(25 * 3600))
            let late = try await fixture.failure { try await fixture.send(.user(user, transactionID: nil)) }
            #expect(late?.reason == .noOpenCase && late?.deliveries.map(\.id) == [accepted.id])
        }
    }

    @Test func `a user without an open case is told of its own latest cases and answers, newest first`() async throws {
        let purchases = (1...25).map { Transaction.sample(id: "\($0)", account: "A") }
        try await DeliveryFixture.with(accounts: [purchases]) { fixture in
            var sent: [Delivery] = []
            for purchase in purchases {
                try await fixture.link(purchase.transactionID, to: "alice")
                _ = try await fixture.openCase(purchase)
                sent.append(try await fixture.send(.transaction(purchase.transactionID), wait: .seconds(5)))
                fixture.advance(by: .seconds(60))
            }
            // The latest of all is another user's from now on.
            let bobs = try Link.sample(.transactionId, "25", user: "bob")
            _ = try await fixture.store.store.declare(bobs, transfer: true)
            let failure = try await fixture.failure {
                try await fixture.send(.user(try UserID("alice"), transactionID: nil))
            }
            #expect(failure?.reason == .noOpenCase, "which of the many that say the same is meant, nobody knows")
            #expect(failure?.deliveries.map(\.id) == sent.dropLast().suffix(20).reversed().map(\.id))
            #expect(failure?.cases.map(\.transactionID) == (5...24).reversed().map(String.init))
            let bob = try await fixture.send(.user(try UserID("bob"), transactionID: nil))
            #expect(bob.id == sent[24].id)
            let stranger = try await fixture.failure {
                try await fixture.send(.user(try UserID("carol"), transactionID: nil))
            }
            #expect(stranger?.reason == .noOpenCase && stranger?.deliveries == [] && stranger?.cases == [])
        }
    }

    @Test func `a user's open case is found in whatever spelling the id comes`() async throws {
        let id = "0B4C4D0E-4E3F-4B32-9D5F-0A1B2C3D4E5F"
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            try await fixture.link("1", to: id.lowercased())
            let refundCase = try await fixture.openCase(purchase)
            #expect(try await fixture.send(.user(try UserID(id), transactionID: nil)).caseID == refundCase.id)
        }
    }

    @Test func `withdrawals at the same time each tell of their own deliveries alone`() async throws {
        let users = (0..<10).map { "user-\($0)" }
        let transactions = users.map { Transaction.sample(id: $0, account: "A") }
        try await DeliveryFixture.with(accounts: [transactions]) { fixture in
            fixture.gateway.consumptionGate.close()
            var own: [String: String] = [:]
            for user in users {
                try await fixture.link(user, to: user)
                own[user] = try await fixture.send(.user(UserID(user), transactionID: user)).id
            }
            await fixture.gateway.consumptionGate.hasArrivals(users.count)
            let told = try await withThrowingTaskGroup(of: (String, [String]).self) { group in
                for user in users {
                    group.addTask {
                        let outcome = try await fixture.record(user, isConsented: false)
                        return (user, (outcome.cancelled + outcome.mayHaveBeenSent).map(\.id))
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(told == own.mapValues { [$0] })
        }
    }
}
