import Foundation
import Logging

/// Makes one attempt to hand a delivery to Apple: finds out what is not known of the purchase, asks the one gate, sends, and
/// says what is to be recorded of it.
struct DeliveryAttemptRunner: Sendable {
    let store: any DeliveryStore
    let claims: any DeliveryClaimStore
    let ending: DeliveryEnding
    let links: any LinkStore
    let gateway: any AppStoreGateway
    let apps: AppCatalog
    let clock: ServiceClock
    let policy: DispatchPolicy
    let worker: String
    let logger: Logger

    /// Makes the attempt; it ends soon when the transfer is aborted.
    ///
    /// Whoever aborts has told the store to cancel the delivery, or consent to object; else it is attempted again.
    func run(_ transfer: InFlightDelivery) async -> DeliveryConclusion {
        var conclusion = await transfer.run { await attempt(transfer) }
        guard transfer.isAborted, case .retry(_, let failure) = conclusion.outcome else { return conclusion }
        // Not within the attempt, whose task is cancelled.
        let obstacle = try? await obstacle(to: transfer)
        conclusion.outcome = obstacle.map { .cancelled($0) } ?? .retry(at: clock.now(), failure)
        return conclusion
    }

    private func attempt(_ transfer: InFlightDelivery) async -> DeliveryConclusion {
        let delivery = transfer.delivery
        let time = clock.remaining(until: delivery.deadline)
        guard time >= policy.minimumAttemptTime else {
            return unsent(transfer, ServiceError(.deadlineExceeded, "Too little time was left before the deadline."))
        }
        let app: App
        do {
            app = try apps.app(delivery.app)
        } catch {
            return misconfigured(transfer, error)
        }
        let end = min(clock.monotonicNow() + min(time, policy.attemptTime), transfer.end)
        // What is left before the deadline has been looked at already; this is about the lease alone.
        guard clock.remaining(until: transfer.end) >= policy.minimumAttemptTime else {
            return unsent(transfer, Self.leaseOver)
        }
        if let conclusion = await lookUp(transfer, app, until: end) { return conclusion }
        if let conclusion = await keepFindings(transfer) { return conclusion }
        if let conclusion = await askGate(transfer) { return conclusion }
        return await send(transfer, app, until: end)
    }

    /// Said of an attempt that was held up, as by a stop of the whole process, until somebody else may have taken its delivery.
    private static let leaseOver = ServiceError(
        .storeUnavailable, "The attempt was held up for so long that another copy may make it.")

    private func upstreamCall(
        _ delivery: Delivery, _ app: App, until end: ContinuousClock.Instant
    ) -> UpstreamCall {
        UpstreamCall(
            app: app, environment: delivery.environment, deadline: end, caller: delivery.caller,
            priority: .deadlineBound)
    }
}

// MARK: The purchase

extension DeliveryAttemptRunner {
    /// Asks Apple about the purchase, unless it is known: its owner's consent matters, and what a guardian said of its Apple
    /// Account, and Apple takes the answer only in the purchase's own environment.
    ///
    /// - Returns: nil when the delivery can go on.
    private func lookUp(
        _ transfer: InFlightDelivery, _ app: App, until end: ContinuousClock.Instant
    ) async -> DeliveryConclusion? {
        let delivery = transfer.delivery
        do throws(ServiceError) {
            guard try await isUnknown(delivery) else { return nil }
        } catch {
            return unsent(transfer, error)
        }
        let startedAt = clock.now()
        let start = clock.monotonicNow()
        do throws(ServiceError) {
            let transaction = try await gateway.transaction(
                delivery.transactionID, upstreamCall(delivery, app, until: end))
            transfer.learn(transaction.facts)
            if transaction.appTransactionID == nil, delivery.purchase != nil { transfer.warn(Self.accountUnknown) }
        } catch {
            let attempt = DeliveryAttempt(
                startedAt: startedAt, duration: start.duration(to: clock.monotonicNow()),
                httpStatus: error.apple?.httpStatus, errorCode: error.apple?.errorCode,
                failure: error.apple?.errorName ?? error.reason.rawValue)
            let failure = CallFailure(error)
            return conclusion(
                transfer, after: CallResult(.failure(failure), attempts: [attempt]),
                // Where the environment is known, others whose purchase is known too need no look-up.
                othersFailAlike: delivery.environment == nil && failure.isSharedByEnvironment)
        }
        return await objectionOfOwner(transfer)
    }

    /// Said where a guardian has rescinded consent for some account of the app, and nobody can tell whether it is this one.
    private static let accountUnknown =
        "Apple does not tell which Apple Account made the purchase; its owner's own consent counts."

    /// Whether the gate needs to know more of the purchase than is known.
    private func isUnknown(_ delivery: Delivery) async throws(ServiceError) -> Bool {
        guard delivery.environment != nil, let purchase = delivery.purchase else { return true }
        guard purchase.appTransactionID == nil else { return false }
        return try await store.mustKnowAccount(app: delivery.app, environment: delivery.environment)
    }

    /// Lets other copies know what was found out, before the gate is asked: whoever takes answers back there looks at rows alone.
    ///
    /// - Returns: nil when the delivery can go on.
    private func keepFindings(_ transfer: InFlightDelivery) async -> DeliveryConclusion? {
        guard claims.isShared, transfer.hasFindings else { return nil }
        let delivery = transfer.delivery
        do throws(ServiceError) {
            let findings = DeliveryFindings(
                environment: delivery.environment, purchase: delivery.purchase, warnings: delivery.warnings)
            let ended = try await claims.keepFindings(
                findings, of: delivery, claimedBy: worker, at: transfer.claimedAt, now: clock.now())
            guard let ended else { return unsent(transfer, Self.leaseOver) }
            transfer.findingsAreKept()
            await ending.begin(ended, from: transfer)
            return nil
        } catch {
            return unsent(transfer, error)
        }
    }

    /// The caller named a user before anybody knew whose the purchase is.
    private func objectionOfOwner(_ transfer: InFlightDelivery) async -> DeliveryConclusion? {
        let delivery = transfer.delivery
        guard let user = delivery.user, let purchase = delivery.purchase else { return nil }
        do throws(ServiceError) {
            let app = try apps.app(delivery.app)
            let rule = try await OwnerRule.load(for: [purchase], app: app, asking: user, from: links)
            guard let owner = rule.owner(of: purchase), !owner.isSameUser(as: user) else { return nil }
            return objected(transfer, .ownedByAnotherUser(purchase.transactionID, owner: owner, not: user))
        } catch {
            return unsent(transfer, error)
        }
    }
}

// MARK: The way out

extension DeliveryAttemptRunner {
    /// The one gate: nothing is sent that it objects to, or while it cannot be asked.
    ///
    /// - Returns: nil when the delivery can go on.
    private func askGate(_ transfer: InFlightDelivery) async -> DeliveryConclusion? {
        do throws(ServiceError) {
            return try await obstacle(to: transfer).map { record(transfer, .cancelled($0)) }
        } catch {
            return unsent(transfer, error)
        }
    }

    /// Asks the store; what else ends by what it applies first is let go, too.
    private func obstacle(to transfer: InFlightDelivery) async throws(ServiceError) -> DeliveryFailure? {
        let (obstacle, ended) = try await store.obstacle(to: transfer.delivery, at: clock.now())
        await ending.begin(ended, from: transfer)
        return obstacle
    }

    private func send(
        _ transfer: InFlightDelivery, _ app: App, until end: ContinuousClock.Instant
    ) async -> DeliveryConclusion {
        let delivery = transfer.delivery
        guard let environment = delivery.environment, app.environments.contains(environment) else {
            return misconfigured(
                transfer,
                ServiceError(
                    .environmentNotAllowed, "The app is not configured for the purchase's environment any more."))
        }
        guard !transfer.isAborted else {
            return unsent(transfer, ServiceError(.deliveryEnded, "It was taken back before it was sent."))
        }
        guard clock.isCertain else {
            return unsent(transfer, ServiceError(.appleUnavailable, "Apple has yet to say what time it is."))
        }
        guard clock.remaining(until: transfer.end) > .zero else { return unsent(transfer, Self.leaseOver) }
        let message = ConsumptionMessage(
            version: delivery.version, transactionID: delivery.transactionID, body: delivery.body)
        let result = await gateway.sendConsumption(message, upstreamCall(delivery, app, until: end))
        return conclusion(
            transfer, after: result, othersFailAlike: result.failure?.isSharedByEnvironment ?? false)
    }
}

// MARK: What is to be recorded

extension DeliveryAttemptRunner {
    /// It must not be sent.
    private func objected(_ transfer: InFlightDelivery, _ error: ServiceError) -> DeliveryConclusion {
        record(transfer, .cancelled(DeliveryFailure(error)))
    }

    /// What a mended configuration would allow.
    private func misconfigured(_ transfer: InFlightDelivery, _ error: ServiceError) -> DeliveryConclusion {
        let failure = CallFailure(error, notBefore: policy.longestPause)
        return conclusion(transfer, after: CallResult(.failure(failure)), othersFailAlike: true)
    }

    /// Nothing was sent, and another attempt may succeed.
    private func unsent(_ transfer: InFlightDelivery, _ error: ServiceError) -> DeliveryConclusion {
        conclusion(transfer, after: CallResult(.failure(CallFailure(error))))
    }

    /// Only what Apple refused for good is not worth another attempt.
    private func conclusion(
        _ transfer: InFlightDelivery, after result: CallResult<Void>, othersFailAlike: Bool = false
    ) -> DeliveryConclusion {
        guard let failure = result.failure else { return record(transfer, .accepted, after: result) }
        guard !failure.error.isFinalRefusal else {
            return record(transfer, .refused(DeliveryFailure(failure.error)), after: result)
        }
        let wait = failure.notBefore ?? failure.error.retryAfter
        return record(
            transfer, retry(transfer, failure.error, notBefore: wait, attempts: result.attempts.count), after: result,
            pause: othersFailAlike ? wait ?? policy.unsentPause : nil)
    }

    private func retry(
        _ transfer: InFlightDelivery, _ error: ServiceError, notBefore: Duration?, attempts: Int
    ) -> DeliveryConclusion.Outcome {
        let delivery = transfer.delivery
        let now = clock.now()
        guard !transfer.isAborted else { return .retry(at: now, DeliveryFailure(error)) }
        let delay = policy.backoff.delay(
            after: delivery.attemptCount + attempts, notBefore: notBefore,
            atLeast: attempts == 0 ? policy.unsentPause : .zero,
            remaining: clock.remaining(until: delivery.deadline) - policy.minimumAttemptTime)
        // Where no further attempt fits, its deadline ends it.
        return .retry(at: delay.map(now.advanced) ?? max(delivery.deadline, now), DeliveryFailure(error))
    }

    /// `pause`: how long others of the app in the environment, which would fail alike, need not be tried.
    private func record(
        _ transfer: InFlightDelivery, _ outcome: DeliveryConclusion.Outcome, after result: CallResult<Void>? = nil,
        pause: Duration? = nil
    ) -> DeliveryConclusion {
        let delivery = transfer.delivery
        return DeliveryConclusion(
            id: delivery.id, app: delivery.app, worker: worker, claimedAt: transfer.claimedAt, outcome: outcome,
            attempts: result?.attempts ?? [],
            mayHaveReachedApple: result?.mayHaveReachedApple ?? false, environment: delivery.environment,
            purchase: delivery.purchase, warnings: delivery.warnings, at: clock.now(),
            pause: pause.map { (AppEnvironment(app: delivery.app, environment: delivery.environment), $0) })
    }
}

extension CallFailure {
    /// Whether other calls of the app in the environment would fail alike.
    ///
    /// Budget, breaker, Apple's wish to wait and a key that is no good stop them all; what one caller may not send, another
    /// may.
    package var isSharedByEnvironment: Bool {
        switch error.reason {
        case .budgetExhausted: refusedCaller == nil
        case .appleRateLimited, .appleUnauthorized, .appleAppUnknown, .noProductionRelease, .keyUnavailable: true
        // An open breaker says how long it stays so.
        case .appleUnavailable: error.retryAfter != nil
        default: false
        }
    }
}

extension ServiceError {
    /// Whether Apple refused a request for good; some of its refusals ask to be tried again.
    package var isFinalRefusal: Bool { reason == .appleRejected && retryAfter == nil }

    /// The error of a caller that names a user whose purchase it is not.
    static func ownedByAnotherUser(_ transactionID: String, owner: UserID, not user: UserID) -> ServiceError {
        ServiceError(
            .ownedByAnotherUser,
            "Transaction `\(transactionID)` belongs to user `\(owner)`, not to `\(user)`; name that user, or transfer the link.",
            owner: owner, user: user)
    }
}
