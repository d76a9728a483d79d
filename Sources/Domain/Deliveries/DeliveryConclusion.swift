package import Foundation

/// What became of a claimed delivery in one attempt: what the store records, and what those who wait for it are told.
package struct DeliveryConclusion: Sendable {
    package enum Outcome: Sendable, Equatable {
        case accepted
        case refused(DeliveryFailure)
        case cancelled(DeliveryFailure)
        /// Queued again; not before this time. Where that is not before its deadline, the deadline ends it.
        case retry(at: Date, DeliveryFailure)
    }

    package let id: String
    package let app: String
    package let worker: String
    /// When it was claimed, which tells this claim from others of the same worker; nil for whichever there is.
    package let claimedAt: Date?
    package var outcome: Outcome
    /// The attempts that were made under this claim.
    package let attempts: [DeliveryAttempt]
    package let mayHaveReachedApple: Bool
    /// What was found out on the way.
    package let findings: DeliveryFindings
    package let at: Date
    /// The app and environment whose other deliveries would fail alike, and how long they need not be tried; this is not
    /// recorded.
    package let pause: (environment: AppEnvironment, duration: Duration)?

    package init(
        id: String, app: String, worker: String, claimedAt: Date? = nil, outcome: Outcome,
        attempts: [DeliveryAttempt],
        mayHaveReachedApple: Bool, environment: AppStoreEnvironment? = nil, purchase: PurchaseFacts? = nil,
        warnings: [String]? = nil, at: Date,
        pause: (environment: AppEnvironment, duration: Duration)? = nil
    ) {
        self.id = id
        self.app = app
        self.worker = worker
        self.claimedAt = claimedAt
        self.outcome = outcome
        self.attempts = attempts
        self.mayHaveReachedApple = mayHaveReachedApple
        findings = DeliveryFindings(environment: environment, purchase: purchase, warnings: warnings)
        self.at = at
        self.pause = pause
    }
}

/// What an attempt has found out about its delivery.
package struct DeliveryFindings: Sendable, Equatable {
    /// Nil leaves what is known.
    package let environment: AppStoreEnvironment?
    package let purchase: PurchaseFacts?
    /// What the delivery tells whoever reads it from now on; nil leaves what it told.
    package let warnings: [String]?

    package init(environment: AppStoreEnvironment?, purchase: PurchaseFacts?, warnings: [String]?) {
        self.environment = environment
        self.purchase = purchase
        self.warnings = warnings
    }
}

extension DeliveryConclusion {
    /// The delivery as the store has recorded it, with what only the attempt knows: Apple's answer byte for byte.
    func completed(_ recorded: Delivery) -> Delivery {
        guard recorded.state == .refused, case .refused(let failure) = outcome else { return recorded }
        var delivery = recorded
        delivery.failure = failure
        return delivery
    }

    /// The delivery as it is as long as the store cannot record this.
    func unrecorded(_ claimed: Delivery) -> Delivery {
        var delivery = claimed
        delivery.attempts += attempts
        delivery.attemptCount += attempts.count
        delivery.mayHaveReachedApple = delivery.mayHaveReachedApple || mayHaveReachedApple
        switch outcome {
        case .accepted: delivery.state = .accepted
        case .refused(let failure), .cancelled(let failure), .retry(_, let failure):
            delivery.failure = failure
        }
        return delivery
    }
}
