package import Foundation

/// Keeps deliveries until Apple has them or they are of no use any more.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable` when the storage cannot be used, and has then
/// changed nothing.
package protocol DeliveryStore: Sendable {
    // MARK: Coming in

    /// The delivery that an idempotency key stands for, if the key is known and not older than `IdempotencyKey.lifetime`.
    ///
    /// - Returns: the delivery, and the digest of the request that made it.
    /// - Throws: `storeUnavailable`.
    func delivery(
        for key: IdempotencyKey, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])?

    /// Takes a delivery over, unless `AcceptRules` says otherwise.
    ///
    /// In one operation: looks the idempotency key up, loads the case and its deliveries, asks for an objection of consent,
    /// decides by `AcceptRules.decide` and, for `.created`, keeps the delivery, its key and an event.
    ///
    /// - Returns: the decision, carried out.
    /// - Throws: `storeUnavailable`.
    func accept(_ draft: DeliveryDraft) async throws(ServiceError) -> AcceptRules.Decision

    // MARK: Going out

    /// Claims deliveries whose next attempt is due, soonest deadline first, then oldest; their state becomes `sending`.
    ///
    /// Of one transaction at most one is claimed at a time. None is claimed while sending is held, none whose deadline has
    /// passed, and none of the lanes to be skipped. The cost does not depend on how many are queued: rows of skipped lanes are
    /// passed over up to a bound, and `next` then says where to go on.
    ///
    /// - Returns: what was claimed.
    /// - Throws: `storeUnavailable`.
    func claimDeliveries(_ claim: DeliveryClaim) async throws(ServiceError) -> DeliveryClaim.Result

    /// When the next queued delivery becomes due that is not due yet, or the next deadline of a queued one passes; nil when
    /// there is none.
    func nextDeliveryEvent(after now: Date) async throws(ServiceError) -> Date?

    /// Records what became of a claimed delivery.
    ///
    /// A cancellation asked for meanwhile turns `.retry` into `cancelled`. `accepted` makes the case `answered` if it is open.
    ///
    /// - Returns: the delivery as it now is; nil when the worker's claim is no longer its own.
    /// - Throws: `storeUnavailable`.
    func conclude(_ conclusion: DeliveryConclusion) async throws(ServiceError) -> Delivery?

    /// Gives back what was claimed by workers that are no more: those whose lease is over, and, where one process at a time
    /// has the store, every worker but this one.
    ///
    /// An attempt that may have been under way is kept as `interrupted`, and `mayHaveReachedApple` becomes true.
    ///
    /// - Returns: how many were given back.
    /// - Throws: `storeUnavailable`.
    func recoverDeliveries(worker: String, at now: Date) async throws(ServiceError) -> Int

    /// Ends queued deliveries whose deadline has passed, and claimed ones whose lease is over besides, as `expired`.
    ///
    /// - Returns: those that ended, at most `limit`.
    /// - Throws: `storeUnavailable`.
    func expireDeliveries(at now: Date, limit: Int) async throws(ServiceError) -> [Delivery]

    // MARK: For callers

    /// A delivery of an app, with its attempts.
    func delivery(app: String, id: String) async throws(ServiceError) -> Delivery?

    /// A page of an app's deliveries, newest first.
    func deliveries(app: String, _ query: DeliveryQuery) async throws(ServiceError) -> [Delivery]

    /// Ends a delivery that is queued; asks for the end of one that is being sent.
    ///
    /// - Returns: the delivery as it now is, nil when there is none, and whether this changed it.
    /// - Throws: `storeUnavailable`.
    func cancelDelivery(
        app: String, id: String, because failure: DeliveryFailure, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, isChanged: Bool)?

    // MARK: As a whole

    /// How many there are that are not final, by app and state, and how old the oldest is; does not count what is final.
    func deliveryBacklog() async throws(ServiceError) -> [DeliveryBacklog]

    /// Whether and since when nothing is sent, because the store came from a backup.
    func sendingHold() async throws(ServiceError) -> SendingHold?

    /// Lets deliveries be sent again.
    ///
    /// - Returns: the hold that ended; nil when there was none.
    /// - Throws: `storeUnavailable`.
    func releaseSending(by operatorName: String, at now: Date) async throws(ServiceError) -> SendingHold?
}

/// Recognises a request that a caller repeats.
///
/// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
package struct IdempotencyKey: Sendable, Hashable {
    /// How long a key is remembered.
    package static let lifetime: TimeInterval = 24 * 3600
    /// The longest key, in characters.
    package static let maximumLength = 255

    package let caller: String
    package let app: String
    /// The route's path with its parameters, so that one key can serve different purposes.
    package let route: String
    /// As the caller sent it.
    package let key: String

    package init(caller: String, app: String, route: String, key: String) {
        self.caller = caller
        self.app = app
        self.route = route
        self.key = key
    }
}

/// A delivery that somebody wants to be taken over.
package struct DeliveryDraft: Sendable {
    /// In state `queued`.
    package let delivery: Delivery
    package let idempotencyKey: IdempotencyKey?
    /// SHA-256 of the request, to tell whether another one comes under the same key.
    package let requestDigest: [UInt8]
    /// Whose consent matters besides the named user's.
    package let subject: ConsentSubject

    package init(
        delivery: Delivery, idempotencyKey: IdempotencyKey?, requestDigest: [UInt8], subject: ConsentSubject
    ) {
        self.delivery = delivery
        self.idempotencyKey = idempotencyKey
        self.requestDigest = requestDigest
        self.subject = subject
    }
}

/// What Apple's limits and failures have in common: an app in an environment; nil as long as that is not known.
package struct DeliveryLane: Sendable, Hashable {
    package let app: String
    package let environment: AppStoreEnvironment?

    package init(app: String, environment: AppStoreEnvironment?) {
        self.app = app
        self.environment = environment
    }
}

/// What a worker wants to claim.
package struct DeliveryClaim: Sendable {
    /// Where a look for due deliveries stands: behind this deadline and id.
    package struct Position: Sendable, Equatable {
        package let deadline: Date
        package let id: String

        package init(deadline: Date, id: String) {
            self.deadline = deadline
            self.id = id
        }
    }

    /// What was claimed, and where to go on when the bound of one look was reached; nil at the end.
    package struct Result: Sendable {
        package let deliveries: [Delivery]
        package let next: Position?
        /// How many lanes had to be looked at one by one, because others that rest stood in front.
        package let lanes: Int

        package init(deliveries: [Delivery], next: Position?, lanes: Int = 0) {
            self.deliveries = deliveries
            self.next = next
            self.lanes = lanes
        }
    }

    /// Names the process for as long as it runs.
    package let worker: String
    package let now: Date
    /// Until when the claim holds; attempts end before.
    package let leaseUntil: Date
    package let limit: Int
    package let skipping: Set<DeliveryLane>
    package let after: Position?

    package init(
        worker: String, now: Date, leaseUntil: Date, limit: Int, skipping: Set<DeliveryLane> = [],
        after: Position? = nil
    ) {
        self.worker = worker
        self.now = now
        self.leaseUntil = leaseUntil
        self.limit = limit
        self.skipping = skipping
        self.after = after
    }
}

/// What became of a claimed delivery.
package struct DeliveryConclusion: Sendable {
    package enum Outcome: Sendable, Equatable {
        case accepted
        case refused(DeliveryFailure)
        case expired(DeliveryFailure)
        case cancelled(DeliveryFailure)
        /// Queued again; not before this time.
        case retry(at: Date, DeliveryFailure)
    }

    package let id: String
    package let app: String
    package let worker: String
    package let outcome: Outcome
    /// The attempts that were made under this claim.
    package let attempts: [DeliveryAttempt]
    package let mayHaveReachedApple: Bool
    /// What was found out on the way; nil leaves what is known.
    package let environment: AppStoreEnvironment?
    package let purchase: PurchaseFacts?
    package let at: Date

    package init(
        id: String, app: String, worker: String, outcome: Outcome, attempts: [DeliveryAttempt],
        mayHaveReachedApple: Bool, environment: AppStoreEnvironment? = nil, purchase: PurchaseFacts? = nil, at: Date
    ) {
        self.id = id
        self.app = app
        self.worker = worker
        self.outcome = outcome
        self.attempts = attempts
        self.mayHaveReachedApple = mayHaveReachedApple
        self.environment = environment
        self.purchase = purchase
        self.at = at
    }
}

/// Which deliveries to list.
package struct DeliveryQuery: Sendable, Hashable {
    /// The most on one page.
    package static let maximumPageSize = 200

    package var states: Set<Delivery.State> = []
    package var user: UserID?
    package var transactionID: String?
    package var caseID: String?
    package var environment: AppStoreEnvironment?
    /// Only those created at or after this time.
    package var since: Date?
    /// Only those older than the delivery with this id, for the next page.
    package var before: String?
    package var limit: Int

    package init(limit: Int = 50) { self.limit = limit }
}

/// Deliveries of one app that are not final.
package struct DeliveryBacklog: Sendable, Hashable {
    package let app: String
    package let state: Delivery.State
    package let count: Int
    package let oldestCreatedAt: Date
    package let nearestDeadline: Date

    package init(app: String, state: Delivery.State, count: Int, oldestCreatedAt: Date, nearestDeadline: Date) {
        self.app = app
        self.state = state
        self.count = count
        self.oldestCreatedAt = oldestCreatedAt
        self.nearestDeadline = nearestDeadline
    }
}

/// Why nothing is sent for now.
package struct SendingHold: Sendable, Equatable {
    package let since: Date
    /// One sentence for the operator.
    package let reason: String

    package init(since: Date, reason: String) {
        self.since = since
        self.reason = reason
    }
}
