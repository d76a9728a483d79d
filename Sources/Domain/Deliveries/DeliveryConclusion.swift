package import Foundation
import Logging

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

/// What one attempt came to, as it is to be recorded.
struct AttemptResult: Sendable {
    let transfer: InFlightDelivery
    let conclusion: DeliveryConclusion
    /// A lane that others need not try for so long.
    let pause: (lane: AppEnvironment, duration: Duration)?

    /// The delivery as the store has it, with what only this attempt knows: Apple's answer byte for byte.
    func completed(_ recorded: Delivery) -> Delivery {
        guard recorded.state == .refused, case .refused(let failure) = conclusion.outcome else { return recorded }
        var delivery = recorded
        delivery.failure = failure
        return delivery
    }

    /// The delivery as it is as long as the store cannot record the result.
    var unrecorded: Delivery {
        var delivery = transfer.delivery
        delivery.attempts += conclusion.attempts
        delivery.attemptCount += conclusion.attempts.count
        delivery.mayHaveReachedApple = delivery.mayHaveReachedApple || conclusion.mayHaveReachedApple
        switch conclusion.outcome {
        case .accepted: delivery.state = .accepted
        case .refused(let failure), .expired(let failure), .cancelled(let failure), .retry(_, let failure):
            delivery.failure = failure
        }
        return delivery
    }
}

// MARK: From attempt to conclusion

extension DeliveryAttemptRunner {
    /// What is to be recorded of an attempt.
    func conclusion(after outcome: Outcome, _ transfer: InFlightDelivery) async -> DeliveryConclusion {
        let delivery = transfer.delivery
        let isAccepted = if case .accepted = outcome.verdict { true } else { false }
        return DeliveryConclusion(
            id: delivery.id, app: delivery.app, worker: worker, outcome: await end(outcome, transfer),
            attempts: outcome.attempts,
            mayHaveReachedApple: !isAccepted && (delivery.mayHaveReachedApple || outcome.mayHaveReachedApple),
            environment: delivery.environment, purchase: delivery.purchase, at: clock.now())
    }

    /// How long the lane is left alone, if others in it would fail alike.
    func pause(after outcome: Outcome) -> (lane: AppEnvironment, duration: Duration)? {
        guard let lane = outcome.lane, case .failed(_, let notBefore) = outcome.verdict else { return nil }
        return (lane, notBefore ?? policy.unsentPause)
    }

    private func end(_ outcome: Outcome, _ transfer: InFlightDelivery) async -> DeliveryConclusion.Outcome {
        switch outcome.verdict {
        case .accepted: .accepted
        case .refused(let error): .refused(DeliveryFailure(error))
        case .objected(let error): .cancelled(DeliveryFailure(error))
        case .failed(let error, _) where transfer.isAborted: await end(ofAborted: transfer, error)
        case .failed(let error, let notBefore): retry(transfer.delivery, outcome, error, notBefore)
        }
    }

    /// Whoever aborts has told the store to cancel it, or consent to object; else it is attempted again.
    private func end(ofAborted transfer: InFlightDelivery, _ error: ServiceError) async -> DeliveryConclusion.Outcome {
        let objection = try? await consents.consentObjection(to: ConsentSubject(transfer.delivery))
        if let objection { return .cancelled(DeliveryFailure(objection.error)) }
        return .retry(at: clock.now(), DeliveryFailure(error))
    }

    private func retry(
        _ delivery: Delivery, _ outcome: Outcome, _ error: ServiceError, _ notBefore: Duration?
    ) -> DeliveryConclusion.Outcome {
        let now = clock.now()
        let delay = policy.backoff.delay(
            after: delivery.attemptCount + outcome.attempts.count, notBefore: notBefore,
            atLeast: outcome.attempts.isEmpty ? policy.unsentPause : .zero,
            remaining: clock.remaining(until: delivery.deadline) - policy.minimumAttemptTime)
        guard let delay else {
            return .expired(
                DeliveryFailure(
                    reason: .deadlineExceeded,
                    message:
                        "The deadline comes before the next attempt could be made. The last one failed: \(error.message)",
                    apple: error.apple))
        }
        return .retry(at: now.addingTimeInterval(delay / .seconds(1)), DeliveryFailure(error))
    }

    /// Apple's acceptance proves whose purchase it is; a link that cannot be recorded must not turn that into a failure.
    func learnLink(from delivery: Delivery) async {
        guard let user = delivery.user else { return }
        let statement = Link(
            app: delivery.app, user: user, target: LinkTarget(.transactionId, delivery.transactionID),
            environment: delivery.environment, source: .consumption, validFrom: nil, validUntil: nil,
            createdAt: clock.now(), createdBy: delivery.caller)
        do {
            if case .conflict = try await links.learn(statement) {
                logger.notice(
                    "The consumption call names a user other than the linked one; the link stays",
                    metadata: ["app": "\(delivery.app)", "delivery": "\(delivery.id)"])
            }
        } catch {
            logger.error(
                "The link that Apple's acceptance proves could not be recorded",
                metadata: ["app": "\(delivery.app)", "delivery": "\(delivery.id)", "cause": "\(error.cause ?? "")"])
        }
    }
}
