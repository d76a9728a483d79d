import Foundation
import Logging

/// Makes one attempt to hand a delivery to Apple: finds out what is not known of the purchase, asks the one gate, sends.
struct DeliveryAttemptRunner: Sendable {
    /// What an attempt brought.
    struct Outcome: Sendable {
        enum Verdict: Sendable {
            case accepted
            /// Apple refused for good.
            case refused(ServiceError)
            /// It must not be sent.
            case objected(ServiceError)
            /// Another attempt may succeed.
            case failed(ServiceError, notBefore: Duration?)
        }

        let verdict: Verdict
        var attempts: [DeliveryAttempt] = []
        var mayHaveReachedApple = false
        /// The lane in which others would fail alike.
        var lane: AppEnvironment?
    }

    let consents: any ConsentStore
    let links: any LinkStore
    let gateway: any AppStoreGateway
    let apps: AppCatalog
    let clock: ServiceClock
    let policy: DispatchPolicy
    let worker: String
    let logger: Logger

    /// Makes the attempt; it ends soon when the transfer is aborted.
    func run(_ transfer: InFlightDelivery) async -> AttemptResult {
        let outcome = await transfer.run { await attempt(transfer) }
        return AttemptResult(
            transfer: transfer, conclusion: await conclusion(after: outcome, transfer), pause: pause(after: outcome))
    }

    private func attempt(_ transfer: InFlightDelivery) async -> Outcome {
        let delivery = transfer.delivery
        let time = clock.remaining(until: delivery.deadline)
        guard time >= policy.minimumAttemptTime else {
            let error = ServiceError(.deadlineExceeded, "Too little time was left before the deadline.")
            return Outcome(verdict: .failed(error, notBefore: nil))
        }
        let app: App
        do {
            app = try apps.app(delivery.app)
        } catch {
            return misconfigured(error, delivery)
        }
        let end = clock.monotonicNow() + min(time, policy.attemptTime)
        if let outcome = await lookUp(transfer, app, until: end) { return outcome }
        if let outcome = await askGate(transfer) { return outcome }
        return await send(transfer, app, until: end)
    }

    /// What a mended configuration would allow.
    private func misconfigured(_ error: ServiceError, _ delivery: Delivery) -> Outcome {
        let lane = AppEnvironment(app: delivery.app, environment: delivery.environment)
        return Outcome(verdict: .failed(error, notBefore: policy.longestPause), lane: lane)
    }

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
    /// Asks Apple about the purchase, unless it is known: its owner's consent matters, and Apple takes the answer only in
    /// the purchase's own environment.
    ///
    /// - Returns: nil when the delivery can go on.
    private func lookUp(_ transfer: InFlightDelivery, _ app: App, until end: ContinuousClock.Instant) async -> Outcome?
    {
        let delivery = transfer.delivery
        guard delivery.environment == nil || delivery.purchase == nil else { return nil }
        let startedAt = clock.now()
        let start = clock.monotonicNow()
        do throws(ServiceError) {
            let transaction = try await gateway.transaction(
                delivery.transactionID, upstreamCall(delivery, app, until: end))
            transfer.learn(transaction.facts)
        } catch {
            let attempt = DeliveryAttempt(
                startedAt: startedAt, duration: start.duration(to: clock.monotonicNow()),
                httpStatus: error.apple?.httpStatus, errorCode: error.apple?.errorCode,
                failure: error.apple?.errorName ?? error.reason.rawValue)
            let isRefused = error.reason == .appleRejected && error.retryAfter == nil
            let verdict: Outcome.Verdict = isRefused ? .refused(error) : .failed(error, notBefore: error.retryAfter)
            var outcome = Outcome(verdict: verdict, attempts: [attempt])
            // Where the environment is known, others whose purchase is known too need no look-up.
            if delivery.environment == nil, error.isOfLane {
                outcome.lane = AppEnvironment(app: app.slug, environment: nil)
            }
            return outcome
        }
        return await objectionOfOwner(transfer)
    }

    /// The caller named a user before anybody knew whose the purchase is.
    private func objectionOfOwner(_ transfer: InFlightDelivery) async -> Outcome? {
        let delivery = transfer.delivery
        guard let user = delivery.user, let purchase = delivery.purchase else { return nil }
        do throws(ServiceError) {
            let rule = try await OwnerRule.load(for: [purchase], app: delivery.app, asking: user, from: links)
            guard let owner = rule.owner(of: purchase), owner != user else { return nil }
            return Outcome(verdict: .objected(.ownedByAnotherUser(purchase.transactionID, owner: owner, not: user)))
        } catch {
            return Outcome(verdict: .failed(error, notBefore: nil))
        }
    }
}

// MARK: The way out

extension DeliveryAttemptRunner {
    /// The one gate: nothing is sent that it objects to, or while it cannot be asked.
    ///
    /// - Returns: nil when the delivery can go on.
    private func askGate(_ transfer: InFlightDelivery) async -> Outcome? {
        do throws(ServiceError) {
            let objection = try await consents.consentObjection(to: ConsentSubject(transfer.delivery))
            return objection.map { Outcome(verdict: .objected($0.error)) }
        } catch {
            return Outcome(verdict: .failed(error, notBefore: nil))
        }
    }

    private func send(_ transfer: InFlightDelivery, _ app: App, until end: ContinuousClock.Instant) async -> Outcome {
        let delivery = transfer.delivery
        guard let environment = delivery.environment, app.environments.contains(environment) else {
            return misconfigured(
                ServiceError(
                    .environmentNotAllowed, "The app is not configured for the purchase's environment any more."),
                delivery)
        }
        guard !transfer.isAborted else { return Outcome(verdict: .failed(Self.takenBack, notBefore: nil)) }
        let message = ConsumptionMessage(
            version: delivery.version, transactionID: delivery.transactionID, body: delivery.body)
        let sent = await gateway.sendConsumption(message, upstreamCall(delivery, app, until: end))
        guard let failure = sent.failure else {
            return Outcome(verdict: .accepted, attempts: sent.attempts)
        }
        var outcome = Outcome(
            verdict: failure.isRetryable
                ? .failed(failure.error, notBefore: failure.notBefore) : .refused(failure.error),
            attempts: sent.attempts, mayHaveReachedApple: sent.mayHaveReachedApple)
        if failure.isLaneWide { outcome.lane = AppEnvironment(app: app.slug, environment: environment) }
        return outcome
    }

    private static var takenBack: ServiceError { ServiceError(.deliveryEnded, "It was taken back before it was sent.") }
}

extension ServiceError {
    /// Whether other look-ups of the app would fail alike.
    fileprivate var isOfLane: Bool {
        switch reason {
        case .budgetExhausted, .appleRateLimited, .appleUnauthorized, .noProductionRelease, .keyUnavailable: true
        // An open breaker says how long it stays so.
        case .appleUnavailable: retryAfter != nil
        default: false
        }
    }

    /// The error of a caller that names a user whose purchase it is not.
    static func ownedByAnotherUser(_ transactionID: String, owner: UserID, not user: UserID) -> ServiceError {
        ServiceError(
            .ownedByAnotherUser,
            "Transaction `\(transactionID)` belongs to user `\(owner)`, not to `\(user)`; name that user, or transfer the link."
        )
    }
}
