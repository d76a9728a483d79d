package import Domain
import Foundation
package import Testing

/// What every store of deliveries must do.
package struct DeliveryStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = DeliveryStore & CaseStore & ConsentStore & EventStore & LinkStore & NotificationStore
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = accepting + claiming + concluding + recovering + ending + listing + dating

    private static let accepting: [DeliveryStoreContract] = [
        DeliveryStoreContract("a delivery comes back whole, and its coming is told") { store in
            let facts = Transaction.sample(
                id: "2", original: "1", account: "704", token: "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
                type: .nonConsumable, isFamilyShared: true, isAdvancedCommerce: true, environment: .sandbox
            ).facts
            let delivery = Delivery(
                id: "d", app: "coins", caseID: nil, user: try UserID("bob\u{0}1"),
                acceptedFor: try UserID("bob\u{0}1"), caller: "shop", transactionID: "2", environment: .sandbox,
                purchase: facts, version: .v1, body: [0, 255],
                createdAt: CaseModel.time(1), deadline: CaseModel.time(3), nextAttemptAt: CaseModel.time(1),
                warnings: ["odd\u{0}", "even"])
            let draft = DeliveryDraft(
                delivery: delivery, idempotencyKey: nil, requestDigest: [1], subject: ConsentSubject(delivery))
            #expect(try await store.accept(draft).decision == .created(delivery))
            #expect(try await store.delivery(app: "coins", id: "d") == delivery)
            #expect(try await store.delivery(app: "gems", id: "d") == nil)
            let event = ServiceEvent(
                position: 1, app: "coins", kind: .deliveryQueued, subject: "d", at: CaseModel.time(1),
                environment: .sandbox, transactionID: "2", user: delivery.user)
            #expect(try await store.events(after: 0, limit: 10) == [event])
        },
        DeliveryStoreContract("times come back to the millisecond, and are answered as they are kept") { store in
            let odd = CaseModel.time(0).advanced(by: .milliseconds(123))
            let delivery = Delivery(
                id: "d", app: "coins", caseID: nil, user: nil, caller: "shop", transactionID: "1", environment: nil,
                purchase: nil, version: .v2, body: [1], createdAt: odd, deadline: odd.advanced(by: .seconds(60)),
                nextAttemptAt: odd)
            let draft = DeliveryDraft(
                delivery: delivery, idempotencyKey: nil, requestDigest: [1], subject: ConsentSubject(delivery))
            guard case .created(let kept) = try await store.accept(draft).decision else {
                Issue.record("not accepted")
                return
            }
            #expect(kept == delivery)
            #expect(try await store.delivery(app: "coins", id: "d") == kept)
        },
        DeliveryStoreContract("an idempotency key stands for its delivery for a day") { store in
            let key = IdempotencyKey(caller: "shop", app: "coins", route: "/users/bob\u{0}1", key: "k\u{0}1")
            let first = try await store.queue(.sample("1", key: key, digest: [7]))
            let late = 23.9
            #expect(
                try await store.accept(.sample("2", at: late, deadline: 30, key: key, digest: [7])).decision
                    == .existing(first))
            #expect(
                try await store.accept(.sample("2", body: "[]", at: late, deadline: 30, key: key, digest: [8])).decision
                    == .keyReused(first))
            let known = try await store.delivery(for: key, at: CaseModel.time(late))
            #expect(known?.delivery == first && known?.requestDigest == [7])
            for other in [
                IdempotencyKey(caller: "other", app: "coins", route: key.route, key: key.key),
                IdempotencyKey(caller: "shop", app: "gems", route: key.route, key: key.key),
                IdempotencyKey(caller: "shop", app: "coins", route: "/users/bob", key: key.key),
                IdempotencyKey(caller: "shop", app: "coins", route: key.route, key: "k"),
            ] {
                let found = try await store.delivery(for: other, at: CaseModel.time(0))
                #expect(found == nil)
            }
            let forgotten = try await store.delivery(for: key, at: CaseModel.time(24))
            #expect(forgotten == nil)
            let second = try await store.queue(
                .sample("2", transaction: "2", at: 24, deadline: 30, key: key, digest: [8]))
            #expect(try await store.delivery(for: key, at: CaseModel.time(24))?.delivery == second)
        },
        DeliveryStoreContract("a key is kept with a delivery that was there, and stays with the first") { store in
            let key = IdempotencyKey(caller: "shop", app: "coins", route: "/", key: "k")
            let first = try await store.queue(.sample("1"))
            try await store.queue(.sample("2", transaction: "2"))
            let now = CaseModel.time(0)
            var known = try await store.remember(key, requestDigest: [7], deliveryID: "1", at: now)
            #expect(known == nil)
            known = try await store.remember(key, requestDigest: [8], deliveryID: "2", at: now)
            #expect(known?.delivery == first && known?.requestDigest == [7])
            known = try await store.delivery(for: key, at: now)
            #expect(known?.delivery == first && known?.requestDigest == [7])
        },
        DeliveryStoreContract("of many that come under one key at once, one is kept") { store in
            let key = IdempotencyKey(caller: "shop", app: "coins", route: "/", key: "k")
            let decisions = try await withThrowingTaskGroup(of: AcceptRules.Decision.self) { group in
                for number in 0..<100 {
                    group.addTask { try await store.accept(.sample("d\(number)", key: key)).decision }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let all = try await store.deliveries(app: "coins", DeliveryQuery())
            #expect(all.count == 1)
            #expect(decisions.filter { $0 == .created(all[0]) }.count == 1)
            #expect(decisions.filter { $0 == .existing(all[0]) }.count == 99)
        },
        DeliveryStoreContract("within a case the same answer is the same delivery, another waits") { store in
            try await store.take(.sample("a"))
            let first = try await store.queue(.sample("1", caseID: "case-a"))
            #expect(try await store.accept(.sample("2", caseID: "case-a")).decision == .existing(first))
            #expect(
                try await store.accept(.sample("2", caseID: "case-a", body: "[]")).decision == .anotherUnderWay(first))
            _ = try await store.queue(.sample("3", transaction: "3"))
            try await store.claim(at: 0)
            _ = try await store.conclude("1", .refused(.sample), at: 1)
            let again = try await store.queue(.sample("4", caseID: "case-a", at: 1))
            _ = try await store.cancelDelivery(app: "coins", id: "4", because: .sample, at: CaseModel.time(1))
            #expect(again.state == .queued)
            _ = try await store.queue(.sample("5", caseID: "case-a", body: "[]", at: 2))
        },
        DeliveryStoreContract("a case that is over takes no answer, and neither does one whose owner withdrew") {
            store in
            try await store.take(.sample("a"))
            let alice = try Link.sample(.transactionId, "1000", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            _ = try await store.recordConsent(.sample("alice", false))
            #expect(
                try await store.accept(.sample("1", caseID: "case-a")).decision == .withdrawn(.withdrawn(alice.user)))
            _ = try await store.decline(app: "coins", id: "case-a", CaseModel.declined(at: 1))
            let declined = try #require(try await store.refundCase(app: "coins", id: "case-a"))
            #expect(try await store.accept(.sample("1", caseID: "case-a")).decision == .caseClosed(declined))
            let deliveries = try await store.deliveries(app: "coins", DeliveryQuery())
            #expect(deliveries.isEmpty)
        },
    ]
}

extension DeliveryFailure {
    /// An error that Apple answered, with all that it can have.
    package static let sample = DeliveryFailure(
        reason: .appleRejected, message: "Apple says \u{0}no.",
        apple: AppleFailure(
            httpStatus: 400, errorCode: 4_000_001, errorName: "SomeError", errorMessage: "Some text",
            environment: .sandbox, endpoint: "Send Consumption Information", body: [0, 1]))
}

extension DeliveryStore {
    /// Takes a delivery over.
    ///
    /// - Returns: the delivery as kept.
    /// - Throws: `storeUnavailable`, `ExpectationFailedError` when it is not accepted.
    @discardableResult
    package func queue(
        _ draft: DeliveryDraft, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Delivery {
        let decision = try await accept(draft).decision
        var created: Delivery?
        if case .created(let delivery) = decision { created = delivery }
        return try #require(created, "\(decision)", sourceLocation: sourceLocation)
    }

    /// Claims deliveries for an hour.
    @discardableResult
    package func claim(
        at hour: Double, limit: Int = 100, worker: String = "worker", lease: Double = 1,
        skipping: Set<AppEnvironment> = []
    ) async throws(ServiceError) -> [Delivery] {
        try await claimDeliveries(
            DeliveryClaim(
                worker: worker, now: CaseModel.time(hour), lease: .seconds(lease * 3600), limit: limit,
                skipping: skipping)
        ).deliveries
    }

    /// Concludes a delivery of the app `coins`.
    package func conclude(
        _ id: String, _ outcome: DeliveryConclusion.Outcome, at hour: Double, worker: String = "worker",
        attempts: [DeliveryAttempt] = [], mayHaveReachedApple: Bool = false,
        environment: AppStoreEnvironment? = nil, purchase: PurchaseFacts? = nil
    ) async throws(ServiceError) -> Delivery? {
        try await conclude(
            DeliveryConclusion(
                id: id, app: "coins", worker: worker, outcome: outcome, attempts: attempts,
                mayHaveReachedApple: mayHaveReachedApple, environment: environment, purchase: purchase,
                at: CaseModel.time(hour)))
    }
}

extension DeliveryAttempt {
    /// An attempt with all that it can have.
    package static func sample(at hour: Double) -> DeliveryAttempt {
        DeliveryAttempt(
            startedAt: CaseModel.time(hour), duration: .microseconds(1_234_567), httpStatus: 500, errorCode: 5_000_001,
            failure: "GeneralInternalRetryableError")
    }
}

extension ConsentRecord {
    /// What a user of the app `coins` said.
    package static func sample(_ user: String, _ isConsented: Bool, at hour: Double = 0) throws -> ConsentRecord {
        ConsentRecord(
            app: "coins", user: try UserID(user), isConsented: isConsented, source: "settings\u{0}v3",
            at: CaseModel.time(hour), recordedAt: CaseModel.time(hour), recordedBy: "shop")
    }
}
