package import Foundation
package import Logging

/// Takes answers to Apple's consumption requests over, and waits a while for what becomes of them.
package struct ConsumptionService: Sendable {
    /// What an answer is about.
    package enum Target: Sendable, Equatable {
        /// A user's transaction; without a transaction id, the one of the user's one open case.
        case user(UserID, transactionID: String?)
        case transaction(String)
        /// A case, by its id.
        case refundCase(String)
    }

    /// What a caller asks to be sent.
    package struct Request: Sendable {
        package let caller: String
        package let target: Target
        package let answer: ConsumptionAnswer
        /// Where the transaction is; nil if the caller does not say.
        package let environment: AppStoreEnvironment?
        /// When the answer ceases to be of use; it can only shorten what the case or Apple's 12 hours allow.
        package let deadline: Date?
        /// How long the caller waits for a final state.
        package let wait: Duration
        package let idempotencyKey: IdempotencyKey?
        /// What must be the same in every request under one key.
        package let requestContent: [UInt8]
        /// Set if the app's policy asks.
        package let policy: PolicyTrace?
        /// What the request lets go while its caller waits for Apple; nil where nothing is bounded.
        package let slot: (any RequestSlot)?

        package init(
            caller: String, target: Target, answer: ConsumptionAnswer, environment: AppStoreEnvironment? = nil,
            deadline: Date? = nil, wait: Duration = .zero, idempotencyKey: IdempotencyKey? = nil,
            requestContent: [UInt8] = [], policy: PolicyTrace? = nil, slot: (any RequestSlot)? = nil
        ) {
            self.caller = caller
            self.target = target
            self.answer = answer
            self.environment = environment
            self.deadline = deadline
            self.wait = wait
            self.idempotencyKey = idempotencyKey
            self.requestContent = requestContent
            self.policy = policy
            self.slot = slot
        }
    }

    let gateway: any AppStoreGateway
    let deliveries: any DeliveryStore
    let cases: any CaseStore
    let links: any LinkStore
    private let ending: DeliveryEnding
    private var waiters: DeliveryWaiters { ending.waiters }
    let clock: ServiceClock
    let longestLookUp: Duration
    let logger: Logger
    private let kick: @Sendable (Delivery) -> Void
    private let makeID: @Sendable (Date) -> String
    private let digest: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - gateway: asked about purchases, and for the bytes of answers.
    ///   - deliveries: takes answers over.
    ///   - cases: tells what Apple waits for.
    ///   - links: tells whose purchases are.
    ///   - ending: tells what becomes of deliveries, and ends those that must not reach Apple any more.
    ///   - kick: tells the dispatcher of a delivery that is to be sent.
    ///   - clock: the time of day, and waits.
    ///   - longestLookUp: how long an answer waits for what Apple says of its purchase, before it is accepted without.
    ///   - makeID: makes a delivery's id, ordered by the time given.
    ///   - digest: SHA-256.
    ///   - logger: where trouble is told.
    package init(
        gateway: any AppStoreGateway, deliveries: any DeliveryStore, cases: any CaseStore, links: any LinkStore,
        ending: DeliveryEnding, kick: @escaping @Sendable (Delivery) -> Void, clock: ServiceClock,
        longestLookUp: Duration, makeID: @escaping @Sendable (Date) -> String,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8], logger: Logger
    ) {
        self.gateway = gateway
        self.deliveries = deliveries
        self.cases = cases
        self.links = links
        self.ending = ending
        self.kick = kick
        self.clock = clock
        self.longestLookUp = longestLookUp
        self.makeID = makeID
        self.digest = digest
        self.logger = logger
    }

    /// Checks an answer, accepts it durably, and waits a while for Apple to accept it.
    ///
    /// - Parameters:
    ///   - request: what is to be sent, and how long the caller waits.
    ///   - call: the app; no wait lasts beyond its deadline.
    /// - Returns: the delivery: `accepted`, or `queued` or `sending` when the wait was over before.
    /// - Throws: before anything is kept: `invalidRequest`, `ownedByAnotherUser`, `noOpenCase` (with the user's latest cases and
    ///   deliveries), `severalOpenCases` (with the cases), `caseNotFound`, `caseClosed`, `deliveryUnderWay` (with that
    ///   delivery), `consentWithdrawn`, `idempotencyKeyReused`, `appleRejected`, `storeUnavailable`. About the delivery, which
    ///   it then names: `appleRejected` or what else refused it, `deadlineExceeded` when it expired, `deliveryEnded`,
    ///   `consentWithdrawn` or `ownedByAnotherUser` when it was cancelled.
    package func send(_ request: Request, _ call: UpstreamCall) async throws(ServiceError) -> Delivery {
        let waitEnd = min(clock.monotonicNow() + request.wait, call.deadline)
        let digest = digest(request.requestContent)
        if let key = request.idempotencyKey, let known = try await deliveries.delivery(for: key, at: clock.now()) {
            guard known.requestDigest == digest else { throw Self.keyReused(known.delivery) }
            return try await outcome(of: known.delivery, until: waitEnd, request.slot)
        }
        let order: Delivery
        do throws(ServiceError) {
            order = try await self.order(request, call, until: waitEnd)
        } catch {
            guard error.reason == .noOpenCase, case .user(let user, transactionID: nil) = request.target else {
                throw error
            }
            if let done = try await repeated(request, of: user, call.app) {
                return try await remembered(done, request.idempotencyKey, digest)
            }
            throw try await nothingOpen(for: user, request.environment, call.app)
        }
        let draft = DeliveryDraft(
            delivery: order, idempotencyKey: request.idempotencyKey, requestDigest: digest,
            subject: ConsentSubject(order), isForCase: request.target.isCase)
        // Watching begins before anybody can send it, so that no outcome is missed.
        let watch = waiters.watch(order.id)
        defer { waiters.remove(watch) }
        let (decision, ended) = try await deliveries.accept(draft)
        await ending.carryOutHere(ended)
        switch decision {
        case .created(let delivery): return try await outcome(of: delivery, watch, until: waitEnd, request.slot)
        case .existing(let delivery): return try await outcome(of: delivery, until: waitEnd, request.slot)
        case .keyReused(let delivery): throw Self.keyReused(delivery)
        case .anotherUnderWay(let delivery): throw Self.underWay(delivery)
        case .caseClosed(let refundCase): throw Self.closed(refundCase)
        case .refunded: throw ServiceError(.caseClosed, "Apple has refunded the purchase and takes no answer any more.")
        case .withdrawn(let objection): throw objection.error
        }
    }

    /// The delivery that a request asks for, checked.
    private func order(
        _ request: Request, _ call: UpstreamCall, until waitEnd: ContinuousClock.Instant
    ) async throws(ServiceError) -> Delivery {
        let subject = try await subject(of: request, call, until: waitEnd)
        let createdAt = moment(within: subject.refundCase)
        let latest = latestDeadline(of: subject.refundCase, at: createdAt)
        let verdict = try ConsumptionRules.check(
            request.answer, against: subject.purchase,
            and: violations(ofDeadline: request.deadline, latest: latest, at: createdAt))
        return Delivery(
            id: makeID(createdAt), app: call.app.slug, caseID: subject.refundCase?.id, user: subject.user,
            caller: request.caller, transactionID: subject.transactionID, environment: subject.environment,
            purchase: subject.purchase, version: verdict.answer.version, body: gateway.consumptionBody(verdict.answer),
            createdAt: createdAt, deadline: request.deadline ?? latest, requestedDeadline: request.deadline,
            nextAttemptAt: createdAt, warnings: verdict.warnings + Self.warnings(subject.refundCase),
            refundPreference: verdict.answer.refundPreference, policy: request.policy)
    }

    /// When an answer is made: while the time is in doubt, at least within that of the case that it answers.
    private func moment(within refundCase: RefundCase?) -> Date {
        let now = clock.now()
        guard !clock.isCertain, let refundCase, refundCase.state == .open else { return now }
        return min(max(now, refundCase.requestedAt), refundCase.deadline.addingTimeInterval(-1))
    }

    /// What is wrong with the end that a caller has set; nothing that only a clock in doubt says: what is kept then ends by the
    /// right time, as soon as that is known, and no later than a case or Apple's 12 hours allow.
    func violations(ofDeadline deadline: Date?, latest: Date, at now: Date) -> [Violation] {
        guard clock.isCertain else { return [] }
        return ConsumptionRules.violations(ofDeadline: deadline, latest: latest, at: now)
    }

    /// The end of an answer's use: the case's, or Apple's 12 hours from now.
    func latestDeadline(of refundCase: RefundCase?, at now: Date) -> Date {
        guard let refundCase, refundCase.takesAnswers(at: now), refundCase.deadline > now else {
            return now.addingTimeInterval(RefundCase.answerWindow)
        }
        return refundCase.deadline
    }
}

// MARK: What is known already

extension ConsumptionService {
    /// How long, in seconds, the same answer of a user without an open case is the one that Apple has accepted.
    private static let repetition: TimeInterval = 24 * 3600

    /// The one answer of a user without an open case that Apple has accepted, if it says the same.
    ///
    /// - Returns: nil where not exactly one such answer is there.
    private func repeated(
        _ request: Request, of user: UserID, _ app: App
    ) async throws(ServiceError) -> Delivery? {
        var query = DeliveryQuery(limit: DeliveryQuery.maximumPageSize)
        query.user = user
        query.states = [.accepted]
        query.environment = request.environment
        query.since = clock.now().addingTimeInterval(-Self.repetition)
        let same = try await deliveries.deliveries(app: app.slug, query).filter { delivery in
            guard let purchase = delivery.purchase else {
                return gateway.consumptionBody(request.answer) == delivery.body
            }
            let verdict = try? ConsumptionRules.check(request.answer, against: purchase)
            return verdict.map { gateway.consumptionBody($0.answer) == delivery.body } ?? false
        }
        return same.count == 1 ? same[0] : nil
    }

    /// The delivery that a key stands for from now on: the one that the request is answered with, unless another request came
    /// under the key meanwhile.
    private func remembered(
        _ delivery: Delivery, _ key: IdempotencyKey?, _ digest: [UInt8]
    ) async throws(ServiceError) -> Delivery {
        guard let key else { return delivery }
        let known = try await deliveries.remember(
            key, requestDigest: digest, deliveryID: delivery.id, at: clock.now())
        guard let known else { return delivery }
        guard known.requestDigest == digest else { throw Self.keyReused(known.delivery) }
        return known.delivery
    }

    /// How many cases and deliveries a caller is told of that names a user without an open case.
    private static let listed = 20

    /// The error of a caller that names a user without an open case: with what is known of the user, so that the caller finds
    /// what it meant.
    private func nothingOpen(
        for user: UserID, _ environment: AppStoreEnvironment?, _ app: App
    ) async throws(ServiceError) -> ServiceError {
        var cases = CaseQuery(limit: Self.listed)
        (cases.owner, cases.environment, cases.isLatestFirst) = (user, environment, true)
        var deliveries = DeliveryQuery(limit: Self.listed)
        (deliveries.user, deliveries.environment) = (user, environment)
        return ServiceError(
            .noOpenCase,
            "No open case is known to belong to user `\(user)`; name the notification's `transactionId`, or the case.",
            cases: try await own(try await self.cases.refundCases(app: app.slug, cases), of: user, app),
            deliveries: try await self.deliveries.deliveries(app: app.slug, deliveries))
    }

    /// What whoever answers a case should know of it.
    private static func warnings(_ refundCase: RefundCase?) -> [String] {
        guard let refundCase, refundCase.isLate else { return [] }
        return [
            "Apple's first request expired without an answer; this answers a later one, and Apple may have decided."
        ]
    }
}

extension ConsumptionService.Target {
    /// Whether it means a case, be it by its id or as a user's only one.
    fileprivate var isCase: Bool {
        switch self {
        case .user(_, transactionID: nil), .refundCase: true
        case .user, .transaction: false
        }
    }
}

// MARK: What becomes of it

extension ConsumptionService {
    /// Waits for the end of a delivery that was known before.
    private func outcome(
        of delivery: Delivery, until waitEnd: ContinuousClock.Instant, _ slot: (any RequestSlot)?
    ) async throws(ServiceError) -> Delivery {
        guard !delivery.state.isFinal else { return try Self.told(delivery) }
        let watch = waiters.watch(delivery.id)
        defer { waiters.remove(watch) }
        // It may have ended before the watch began.
        return try await outcome(of: await latest(delivery), watch, until: waitEnd, slot)
    }

    private func outcome(
        of delivery: Delivery, _ watch: DeliveryWaiters.Watch, until waitEnd: ContinuousClock.Instant,
        _ slot: (any RequestSlot)?
    ) async throws(ServiceError) -> Delivery {
        kick(delivery)
        let wait = clock.remaining(until: waitEnd)
        guard !delivery.state.isFinal, wait > .zero else { return try Self.told(delivery) }
        // While Apple cannot be reached many callers wait, and must not keep others from being accepted.
        slot?.beginIdling()
        defer { slot?.endIdling() }
        if let ended = await waiters.outcome(watch, within: wait, by: clock) { return try Self.told(ended) }
        return try Self.told(await latest(delivery))
    }

    /// The delivery as it now is; as it was if the store cannot be read, since it has been accepted in any case.
    private func latest(_ delivery: Delivery) async -> Delivery {
        do {
            return try await deliveries.delivery(app: delivery.app, id: delivery.id) ?? delivery
        } catch {
            logger.tell(
                "A delivery cannot be read; its caller is told what was known", error, level: .warning,
                ["delivery": "\(delivery.id)"])
            return delivery
        }
    }

    /// The delivery, or the error that its final state means.
    private static func told(_ delivery: Delivery) throws(ServiceError) -> Delivery {
        switch delivery.state {
        case .queued, .sending, .accepted:
            return delivery
        case .refused:
            let failure = delivery.failure ?? DeliveryFailure(reason: .appleRejected, message: "Apple refused it.")
            throw failure.error.about(delivery)
        case .expired:
            throw ServiceError(
                .deadlineExceeded, "The deadline came before Apple accepted the answer.",
                apple: delivery.failure?.apple
            ).about(delivery)
        case .cancelled:
            if let failure = delivery.failure, [.consentWithdrawn, .ownedByAnotherUser].contains(failure.reason) {
                throw failure.error.about(delivery)
            }
            let why = delivery.failure?.message ?? ""
            throw ServiceError(.deliveryEnded, "The delivery was cancelled. \(why)").about(delivery)
        }
    }

    private static func keyReused(_ delivery: Delivery) -> ServiceError {
        ServiceError(
            .idempotencyKeyReused, "This `Idempotency-Key` was used for another request; send each under its own key."
        ).about(delivery)
    }

    private static func underWay(_ delivery: Delivery) -> ServiceError {
        ServiceError(
            .deliveryUnderWay,
            "Another answer to this case is under way; wait for it, or cancel it with `deliveries/\(delivery.id):cancel`."
        ).about(delivery)
    }

    static func closed(_ refundCase: RefundCase) -> ServiceError {
        ServiceError(
            .caseClosed, "The case takes no answers any more: it is \(refundCase.state.rawValue).",
            cases: [refundCase])
    }
}
