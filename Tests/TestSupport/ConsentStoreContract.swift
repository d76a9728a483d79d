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
            #expect(try await store.consentObjection(to: subject) == nil)
            _ = try await store.recordConsent(try .sample("bob", true, at: 9))
            _ = try await store.recordConsent(try .sample("bob", false, at: 1))
            #expect(try await store.consentObjection(to: subject) == .withdrawn(try UserID("bob")))
            #expect(try await store.consentObjection(to: .sample(user: "bob", app: "gems")) == nil)
            _ = try await store.recordConsent(try .sample("bob", true, at: 0))
            #expect(try await store.consentObjection(to: subject) == nil)
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
                #expect(try await store.consentObjection(to: subject) == .withdrawn(owner))
            }
            let unknown = try ConsentSubject.sample(user: "bob", transaction: "2")
            #expect(try await store.consentObjection(to: unknown) == .withdrawn(try UserID("transactionId")))
        },
    ]

    private static let withdrawing: [ConsentStoreContract] = [
        ConsentStoreContract("a withdrawal ends the user's deliveries: named, of its cases, of its purchases") {
            store in
            let alice = try Link.sample(.originalTransactionId, "1", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            _ = try await store.declare(try .sample(.transactionId, "7", user: "alice"), transfer: false)
            try await store.take(.sample("a", transaction: .sample(id: "2", original: "1")))
            try await store.queue(.sample("named", transaction: "3", user: "alice"))
            try await store.queue(.sample("of case", caseID: "case-a", transaction: "2"))
            try await store.queue(
                .sample(
                    "owned", transaction: "4", user: "bob", purchase: Transaction.sample(id: "4", original: "1").facts))
            try await store.queue(.sample("linked", transaction: "7", due: 5))
            try await store.queue(.sample("sent", transaction: "5", user: "alice"))
            for id in ["other user", "nobody"] {
                try await store.queue(.sample(id, transaction: id, user: id == "nobody" ? nil : "bob"))
            }
            try await store.queue(.sample("other app", transaction: "3", user: "alice", app: "gems"))
            let ended = try await store.queue(.sample("ended", transaction: "6", user: "alice", deadline: 1))
            #expect(try await store.expireDeliveries(at: CaseDesk.time(1), limit: 9).map(\.id) == [ended.id])
            let claimed = try await store.claim(at: 1, limit: 100)
            for delivery in claimed where delivery.id != "sent" && delivery.app == "coins" {
                _ = try await store.conclude(delivery.id, .retry(at: CaseDesk.time(1), .sample), at: 1)
            }
            let effect = try await store.recordConsent(try .sample("alice", false, at: 2))
            #expect(effect.cancelled.map(\.id).sorted() == ["linked", "named", "of case", "owned"])
            #expect(effect.cancelled.allSatisfy { $0.state == .cancelled && $0.failure?.reason == .consentWithdrawn })
            #expect(effect.sending.map(\.id) == ["sent"])
            #expect(
                try await store.conclude("sent", .retry(at: CaseDesk.time(3), .sample), at: 2)?.state == .cancelled)
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
            #expect(effect == ConsentEffect(cancelled: [], sending: []))
            #expect(try await store.claim(at: 0).count == 1)
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
