package import Foundation

/// Keeps deliveries until Apple has them or they are of no use any more.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable` when the storage cannot be used, and has then
/// changed nothing. Times of day are whole milliseconds, as `ServiceClock` tells them, so that what is returned equals what
/// is read afterwards.
package protocol DeliveryStore: DeliveryTimeStore {
    // MARK: Coming in

    /// The delivery that an idempotency key stands for, if the key is known and not older than `IdempotencyKey.lifetime`.
    ///
    /// - Returns: the delivery, and the digest of the request that made it.
    /// - Throws: `storeUnavailable`.
    func delivery(
        for key: IdempotencyKey, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])?

    /// Keeps a key with a delivery that a request was answered with, unless the key stands for one already.
    ///
    /// - Returns: what it stands for already, as above; nil when it was kept.
    /// - Throws: `storeUnavailable`.
    func remember(
        _ key: IdempotencyKey, requestDigest: [UInt8], deliveryID: String, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])?

    /// Takes a delivery over, unless `AcceptRules` says otherwise.
    ///
    /// In one operation: applies what Apple has told of the purchase and nobody has applied yet, looks the idempotency key
    /// up, loads the cases and deliveries of the purchase, asks for an objection of consent, decides by `AcceptRules.decide`
    /// and, for `.created`, keeps the delivery and an event. A new delivery is queued, says when it is tried first, and has no
    /// attempts. The key is kept with the delivery that it was answered with, be it new or not.
    ///
    /// - Returns: the decision, carried out, and what ended by what was applied first.
    /// - Throws: `storeUnavailable`.
    func accept(
        _ draft: DeliveryDraft
    ) async throws(ServiceError) -> (decision: AcceptRules.Decision, ended: EndedDeliveries)

    // MARK: Going out

    /// Claims deliveries whose next attempt is due, soonest deadline first, then oldest; their state becomes `sending`.
    ///
    /// Of one transaction at most one is claimed at a time. None is claimed while sending is held, none whose deadline has
    /// passed, and none of the app environments to be skipped. The cost does not depend on how many are queued: rows of
    /// skipped app environments are passed over up to a bound, and `next` then says where to go on.
    ///
    /// - Returns: what was claimed.
    /// - Throws: `storeUnavailable`.
    func claimDeliveries(_ claim: DeliveryClaim) async throws(ServiceError) -> DeliveryClaim.Result

    /// When the next queued delivery becomes due that is not due yet, or the next deadline of a queued one passes; nil when
    /// there is none.
    func nextDeliveryEvent(after now: Date) async throws(ServiceError) -> Date?

    /// Why a claimed delivery must not be sent, if it must not: the one gate, asked as the last thing before it is sent.
    ///
    /// In one operation: applies what Apple has told of the purchase and nobody has applied yet, looks whether the end of the
    /// delivery was asked for, and asks `ConsentRules`.
    ///
    /// - Parameters:
    ///   - delivery: the claimed one, with what has been found out since.
    ///   - now: the time of day.
    /// - Returns: why it must end, nil when it can be sent; and what ended by what was applied first.
    /// - Throws: `storeUnavailable`.
    func obstacle(
        to delivery: Delivery, at now: Date
    ) async throws(ServiceError) -> (obstacle: DeliveryFailure?, ended: EndedDeliveries)

    /// Whether a guardian has rescinded consent for an Apple Account of the app, so that the gate must know whose account a
    /// purchase is of.
    func mustKnowAccount(app: String, environment: AppStoreEnvironment?) async throws(ServiceError) -> Bool

    /// Records what became of a claimed delivery.
    ///
    /// A cancellation asked for meanwhile turns `.retry` into `cancelled`. `accepted` makes the case `answered` unless it is
    /// declined or decided, and, in the same operation, teaches the link of the user that it was accepted for.
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
    ///
    /// The cost depends on how many apps have any, not on how many they have.
    func deliveryBacklog() async throws(ServiceError) -> [DeliveryBacklog]

    /// Whether and since when nothing is sent: the store came from a backup, or cannot tell who has withdrawn consent.
    func sendingHold() async throws(ServiceError) -> SendingHold?

    /// Lets deliveries be sent again.
    ///
    /// - Returns: the hold that ended; nil when there was none. One that is not releasable goes on.
    /// - Throws: `storeUnavailable`.
    func releaseSending(by operatorName: String, at now: Date) async throws(ServiceError) -> SendingHold?
}

/// Deliveries that something which became known has ended: to be handed to `DeliveryEnding`.
package struct EndedDeliveries: Sendable, Equatable {
    /// Ended now; those among them that Apple may have are told by `mayHaveReachedApple`.
    package let cancelled: [Delivery]
    /// Claimed by a worker: their end is asked for, and a worker that comes back for them finds the objection.
    package let sending: [Delivery]
    /// What guardians have rescinded, where that is what became known.
    package let rescissions: [Rescission]

    package static let none = EndedDeliveries(cancelled: [], sending: [])

    package init(cancelled: [Delivery], sending: [Delivery], rescissions: [Rescission] = []) {
        self.cancelled = cancelled
        self.sending = sending
        self.rescissions = rescissions
    }

    /// A notification of Apple's with which a guardian rescinds consent for an Apple Account.
    package struct Rescission: Sendable, Equatable {
        package let app: String
        package let notificationUUID: String
        package let environment: AppStoreEnvironment

        package init(app: String, notificationUUID: String, environment: AppStoreEnvironment) {
            self.app = app
            self.notificationUUID = notificationUUID
            self.environment = environment
        }
    }
}

/// Which deliveries to list.
package struct DeliveryQuery: Sendable, Hashable {
    /// The most on one page.
    package static let maximumPageSize = PageLimit.storedRows

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
    /// Of the one with the lowest id.
    package let oldestCreatedAt: Date

    package init(app: String, state: Delivery.State, count: Int, oldestCreatedAt: Date) {
        self.app = app
        self.state = state
        self.count = count
        self.oldestCreatedAt = oldestCreatedAt
    }
}

/// Why nothing is sent for now.
package struct SendingHold: Sendable, Equatable {
    package let since: Date
    /// What it is and what to do, for the operator.
    package let reason: String
    /// Whether an operator may end it by saying so; otherwise it ends with what caused it.
    package let isReleasable: Bool

    package init(since: Date, reason: String, isReleasable: Bool = true) {
        self.since = since
        self.reason = reason
        self.isReleasable = isReleasable
    }
}
