package import Domain
import Foundation
import Testing

/// What every store of consent must do.
package struct ConsentStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = DeliveryStoreContract.Store
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = recording + withdrawing + erasing

    private static let recording: [ConsentStoreContract] = [
        ConsentStoreContract("records come back whole, in the order of their receipt") { store in
            let records = [
                try ConsentRecord.sample("bob", true, at: 5), try .sample("bob", false, at: 3),
                try .sample("bob", true, at: 4),
            ]
            for record in records + [try .sample("bob\u{0}", false)] { _ = try await store.recordConsent(record) }
            let bob = try UserID("bob")
            #expect(try await store.consentHistory(app: "coins", user: bob) == records)
            #expect(try await store.consentHistory(app: "gems", user: bob).isEmpty)
        },
        ConsentStoreContract("the latest record by order of receipt decides") { store in
            let subject = try ConsentSubject.sample(user: "bob")
            #expect(try await store.objection(to: subject) == nil)
            _ = try await store.recordConsent(try .sample("bob", true, at: 9))
            _ = try await store.recordConsent(try .sample("bob", false, at: 1))
            #expect(try await store.objection(to: subject) == .objection(.withdrawn(try UserID("bob"))))
            #expect(try await store.objection(to: .sample(user: "bob", app: "gems")) == nil)
            _ = try await store.recordConsent(try .sample("bob", true, at: 0))
            #expect(try await store.objection(to: subject) == nil)
        },
        ConsentStoreContract("the owner's withdrawal stands against whoever is named") { store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let facts = Transaction.sample(id: "2", original: "1", account: "704", token: token).facts
            for (kind, value) in [
                (.appTransactionId, "704"), (.originalTransactionId, "1"), (.transactionId, "2"),
                (.appAccountToken, token),
            ] as [(LinkTarget.Kind, String)] {
                let owner = try UserID(kind.rawValue)
                _ = try await store.declare(try .sample(kind, value, user: owner.value), transfer: false)
                _ = try await store.recordConsent(try .sample(owner.value, false))
                let subject = try ConsentSubject.sample(user: "bob", purchase: facts)
                #expect(try await store.objection(to: subject) == .objection(.withdrawn(owner)))
            }
            let unknown = try ConsentSubject.sample(user: "bob", transaction: "2")
            #expect(try await store.objection(to: unknown) == .objection(.withdrawn(try UserID("transactionId"))))
        },
    ]

    private static let withdrawing: [ConsentStoreContract] = [
        ConsentStoreContract("a withdrawal ends the user's deliveries: named, of its cases, of its purchases") {
            store in
            let alice = try Link.sample(.originalTransactionId, "1", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            _ = try await store.declare(try .sample(.transactionId, "7", user: "alice"), transfer: false)
            try await store.take(.sample("a", transaction: .sample(id: "2", original: "1", webOrderLineItem: "w2")))
            try await store.queue(.sample("named", transaction: "3", user: "alice"))
            try await store.queue(.sample("of case", caseID: "case-a", transaction: "2"))
            try await store.queue(
                .sample(
                    "owned", transaction: "4", user: "bob",
                    purchase: Transaction.sample(id: "4", original: "1", webOrderLineItem: "w4").facts))
            try await store.queue(.sample("linked", transaction: "7", due: 5))
            try await store.queue(.sample("sent", transaction: "5", user: "alice"))
            for id in ["other user", "nobody"] {
                try await store.queue(.sample(id, transaction: id, user: id == "nobody" ? nil : "bob"))
            }
            try await store.queue(.sample("other app", transaction: "3", user: "alice", app: "gems"))
            let ended = try await store.queue(.sample("ended", transaction: "6", user: "alice", deadline: 1))
            #expect(try await store.expireDeliveries(at: CaseModel.time(1), limit: 9).map(\.id) == [ended.id])
            let claimed = try await store.claim(at: 1, limit: 100)
            for delivery in claimed where delivery.id != "sent" && delivery.app == "coins" {
                _ = try await store.conclude(delivery.id, .retry(at: CaseModel.time(1), .sample), at: 1)
            }
            let effect = try await store.recordConsent(try .sample("alice", false, at: 2))
            #expect(effect.cancelled.map(\.id).sorted() == ["linked", "named", "of case", "owned"])
            #expect(effect.cancelled.allSatisfy { $0.state == .cancelled && $0.failure?.reason == .consentWithdrawn })
            #expect(effect.sending.map(\.id) == ["sent"])
            #expect(
                try await store.conclude("sent", .retry(at: CaseModel.time(3), .sample), at: 2)?.state == .cancelled)
            #expect(try await store.claim(at: 6).map(\.id).sorted() == ["nobody", "other user"])
            let told = try await store.events(after: 0, limit: 100).filter { $0.kind == .deliveryCancelled }
            #expect(Set(told.map(\.subject)) == ["linked", "named", "of case", "owned", "sent"])
        },
        ConsentStoreContract("a withdrawal ends what carries the user's id as token, once the user is known") { store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let user = token.uppercased()
            _ = try await store.declare(try .sample(.transactionId, "77", user: user), transfer: false)
            try await store.queue(.sample("1", purchase: Transaction.sample(token: token).facts))
            #expect(try await store.recordConsent(try .sample(user, false)).cancelled.map(\.id) == ["1"])
        },
        ConsentStoreContract("a purchase that was transferred is not its former owner's") { store in
            let alice = try Link.sample(.transactionId, "1000", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            _ = try await store.declare(try .sample(.transactionId, "1000", user: "bob"), transfer: true)
            try await store.queue(.sample("1", purchase: Transaction.sample().facts))
            #expect(try await store.recordConsent(try .sample("alice", false)).cancelled.isEmpty)
            #expect(try await store.recordConsent(try .sample("bob", false)).cancelled.map(\.id) == ["1"])
        },
        ConsentStoreContract("consent ends nothing") { store in
            try await store.queue(.sample("1", user: "alice"))
            let effect = try await store.recordConsent(try .sample("alice", true))
            #expect(effect == EndedDeliveries(cancelled: [], sending: []))
            #expect(try await store.claim(at: 0).count == 1)
        },
    ]

    private static let erasing: [ConsentStoreContract] = [
        ConsentStoreContract("an erasure removes the user and what it said, and ends its deliveries") { store in
            let alice = try UserID("alice")
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let transaction = Transaction.sample(id: "1", token: token)
            _ = try await store.declare(try .sample(.transactionId, "1", user: "alice"), transfer: false)
            _ = try await store.recordConsent(try .sample("alice", true))
            try await store.take(.sample("a", transaction: transaction))
            try await store.queue(.sample("1", caseID: "case-a", transaction: "1", purchase: transaction.facts))
            try await store.queue(.sample("2", transaction: "2", user: "alice", deadline: 1))
            try await store.queue(.sample("3", transaction: "3", user: "alice"))
            try await store.queue(.sample("4", transaction: "4", user: "bob"))
            _ = try await store.expireDeliveries(at: CaseModel.time(1), limit: 9)
            #expect(try await store.claim(at: 1, limit: 2).map(\.id) == ["1", "3"])
            _ = try await store.conclude("1", .retry(at: CaseModel.time(1), .sample), at: 1)
            let report = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(2))
            #expect(report.links == 1 && report.consentRecords == 1 && report.cases == 1 && report.notifications == 1)
            #expect(report.deliveries == 3 && report.events > 0 && !report.isWithdrawalKept)
            #expect(report.cancelled.map(\.id) == ["1"] && report.sending.map(\.id) == ["3"])
            for id in ["1", "2", "3"] {
                let left = try #require(try await store.delivery(app: "coins", id: id))
                #expect(left.user == nil && left.body.isEmpty && left.purchase?.appAccountToken == nil)
            }
            let others = try await store.delivery(app: "coins", id: "4")
            #expect(others?.user == (try UserID("bob")) && others?.body.isEmpty == false)
            #expect(try await store.links(app: "coins", user: alice).isEmpty)
            #expect(try await store.consentHistory(app: "coins", user: alice).isEmpty)
            #expect(try await store.notification(app: "coins", uuid: "a")?.user == nil)
            let refundCase = try await store.refundCase(app: "coins", id: "case-a")
            #expect(refundCase?.owner == nil && refundCase?.purchase.appAccountToken == nil)
            #expect(try await store.events(after: 0, limit: 100).allSatisfy { $0.user != alice })
            let again = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(3))
            #expect(again.links + again.consentRecords + again.deliveries + again.cases + again.events == 0)
        },
        ConsentStoreContract("an erasure forgets the requests that named the user") { store in
            let key = IdempotencyKey(caller: "shop", app: "coins", route: "/users/alice/consumption", key: "k")
            try await store.queue(.sample("1", user: "alice", key: key))
            _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
            let known = try await store.delivery(for: key, at: CaseModel.time(1))
            #expect(known == nil)
        },
        ConsentStoreContract("an erasure leaves the rule that answered, and nothing of what it used") { store in
            let alice = try UserID("alice")
            let trace = PolicyTrace(rule: "used", facts: ["playTimeMinutes"], usageAt: CaseModel.time(0))
            try await store.queue(.sample("1", user: "alice", policy: trace))
            try await store.queue(.sample("2", transaction: "2", user: "bob", policy: trace))
            _ = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(1))
            let rule = PolicyTrace(rule: "used", facts: [], usageAt: nil)
            #expect(try await store.delivery(app: "coins", id: "1")?.policy == rule)
            #expect(try await store.delivery(app: "coins", id: "2")?.policy == trace)
        },
        ConsentStoreContract("what is being sent brings nothing back that an erasure removed") { store in
            let facts = Transaction.sample(token: "3f2504e0-4f89-11d3-9a0c-0305e82c3301").facts
            try await store.queue(.sample("1", user: "alice"))
            try await store.claim(at: 0)
            _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
            let failure = DeliveryFailure(ConsentObjection.withdrawn(try UserID("alice")).error)
            let ended = try #require(try await store.conclude("1", .cancelled(failure), at: 2, purchase: facts))
            #expect(ended.state == .cancelled && ended.failure?.reason == .consentWithdrawn)
            #expect(ended.failure?.message.contains("alice") == false)
            #expect(ended.purchase?.appAccountToken == nil && ended.user == nil && ended.body.isEmpty)
            #expect(try await store.delivery(app: "coins", id: "1") == ended)
        },
        ConsentStoreContract("an erasure never revives consent: not of the user, and not of what was its own") {
            store in
            let alice = try UserID("alice")
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let purchase = Transaction.sample(id: "2", original: "1", account: "704", token: token).facts
            for (kind, value) in [
                (.appTransactionId, "704"), (.originalTransactionId, "1"), (.transactionId, "2"),
                (.appAccountToken, token),
            ] as [(LinkTarget.Kind, String)] {
                _ = try await store.declare(try .sample(kind, value, user: "alice"), transfer: false)
                _ = try await store.recordConsent(try .sample("alice", false))
                let report = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(1))
                #expect(report.isWithdrawalKept)
                let subject = try ConsentSubject.sample(purchase: purchase)
                #expect(try await store.objection(to: subject) == .objection(.erased), "\(kind)")
                let named = try ConsentSubject.sample(user: "alice", transaction: "other")
                #expect(try await store.objection(to: named) == .objection(.withdrawn(alice)))
                #expect(try await store.objection(to: .sample(transaction: "other")) == nil)
                #expect(try await store.objection(to: .sample(user: "alice", app: "gems")) == nil)
                // A second erasure finds nothing and leaves what the first one left.
                #expect(
                    try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(1)).isWithdrawalKept)
                _ = try await store.recordConsent(try .sample("alice", true))
                #expect(try await store.objection(to: subject) == nil, "new consent lifts it: \(kind)")
                #expect(try await store.objection(to: named) == nil)
            }
        },
        ConsentStoreContract("a case keeps an erased owner's withdrawal, although it loses the token") { store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            _ = try await store.declare(try .sample(.appAccountToken, token, user: "alice"), transfer: false)
            try await store.take(.sample("a", transaction: .sample(id: "2", original: "1", token: token)))
            _ = try await store.recordConsent(try .sample("alice", false))
            _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
            let left = try #require(try await store.refundCase(app: "coins", id: "case-a"))
            let draft = try DeliveryDraft.sample("1", caseID: "case-a", transaction: "2", purchase: left.purchase)
            #expect(try await store.accept(draft).decision == .withdrawn(.erased))
        },
        ConsentStoreContract("a purchase whose owner is known again is that owner's") { store in
            _ = try await store.declare(try .sample(.transactionId, "1000", user: "alice"), transfer: false)
            _ = try await store.recordConsent(try .sample("alice", false))
            _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
            #expect(try await store.objection(to: .sample()) == .objection(.erased))
            _ = try await store.declare(try .sample(.transactionId, "1000", user: "bob"), transfer: false)
            #expect(try await store.objection(to: .sample()) == nil)
        },
        ConsentStoreContract("who agreed, or never said anything, leaves nothing behind") { store in
            for user in ["alice", "bob"] {
                _ = try await store.declare(try .sample(.transactionId, user, user: user), transfer: false)
            }
            _ = try await store.recordConsent(try .sample("alice", false))
            _ = try await store.recordConsent(try .sample("alice", true))
            for user in ["alice", "bob"] {
                let report = try await store.eraseUser(app: "coins", user: try UserID(user), at: CaseModel.time(1))
                #expect(!report.isWithdrawalKept)
                #expect(try await store.objection(to: .sample(user: user, transaction: user)) == nil)
            }
        },
    ]
}

extension ConsentSubject {
    /// An answer of the app `coins` about a production purchase.
    package static func sample(
        user: String? = nil, transaction: String = "1000", purchase: PurchaseFacts? = nil, app: String = "coins"
    ) throws -> ConsentSubject {
        ConsentSubject(
            app: app, user: try user.map(UserID.init), transactionID: purchase?.transactionID ?? transaction,
            environment: .production, purchase: purchase)
    }
}

extension DeliveryStore {
    /// What the gate says about an answer, that is not kept, made in the end of days.
    package func objection(to subject: ConsentSubject) async throws -> DeliveryFailure? {
        let delivery = Delivery(
            id: "not kept", app: subject.app, caseID: nil, user: subject.user, caller: "shop",
            transactionID: subject.transactionID, environment: subject.environment, purchase: subject.purchase,
            version: .v2, body: [], createdAt: subject.madeAt ?? .distantFuture, deadline: .distantFuture,
            nextAttemptAt: nil)
        return try await obstacle(to: delivery, at: CaseModel.time(0)).obstacle
    }
}

extension DeliveryFailure {
    /// What somebody's withdrawal means.
    package static func objection(_ objection: ConsentObjection) -> DeliveryFailure {
        DeliveryFailure(objection.error)
    }
}
