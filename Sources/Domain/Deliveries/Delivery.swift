package import Foundation

/// Which of Apple's two endpoints a delivery goes to.
package enum DeliveryVersion: String, Sendable {
    case v2 = "V2"
    case v1 = "V1"
}

/// One consumption answer on its way to Apple.
///
/// `queued` → `sending` → `accepted`, `refused`, `expired` or `cancelled`; from `sending` back to `queued` after an attempt
/// that is to be repeated. The last four are final.
package struct Delivery: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Waits for its turn or for its next attempt.
        case queued
        /// A worker has claimed it and may be sending it at this moment.
        case sending
        /// Apple accepted it.
        case accepted
        /// Apple refused it for good.
        case refused
        /// Its deadline came before Apple accepted it.
        case expired
        /// A caller, a withdrawal of consent, an erasure or Apple's decision ended it.
        case cancelled

        /// Whether the state never changes again.
        package var isFinal: Bool { self != .queued && self != .sending }
    }

    /// A UUID whose order is the order of creation (version 7).
    package let id: String
    package let app: String
    /// The case that it answers, as soon as one is known.
    package var caseID: String?
    /// The user that the caller named or whom the case belonged to; nil when nobody was named, and after an erasure.
    package var user: UserID?
    /// Whom it was accepted for: the named user, else the owner then; nil when nobody was known, and after an erasure.
    package var acceptedFor: UserID?
    /// Whose the purchase is at present, by the owner rule; told by the store, and nil when nobody is known.
    package var owner: UserID?
    /// Who sent it here; `RefundPolicy.caller` for answers that the app's policy gave.
    package let caller: String
    package let transactionID: String
    /// Nil until Apple has been asked where the transaction is.
    package var environment: AppStoreEnvironment?
    /// What is known of the purchase; nil until Apple has been asked.
    package var purchase: PurchaseFacts?
    package let version: DeliveryVersion
    /// What Apple gets, byte for byte the same in every attempt; empty after an erasure.
    package var body: [UInt8]
    package var state: State
    package let createdAt: Date
    /// After this it is of no use to Apple, and no attempt starts.
    package var deadline: Date
    /// The end that its caller asked for; it can only be shorter than the case's.
    package var requestedDeadline: Date?
    /// When it is tried next, at the earliest; nil in a final state.
    package var nextAttemptAt: Date?
    /// The attempts that are still kept, oldest first.
    package var attempts: [DeliveryAttempt]
    /// How many attempts there were, those included that are no longer kept.
    package var attemptCount: Int
    /// Whether Apple may have it although the state is not `accepted`.
    package var mayHaveReachedApple: Bool
    package var warnings: [String]
    /// Why the last attempt failed, or why the delivery ended; nil as long as nothing went wrong.
    package var failure: DeliveryFailure?
    /// When the state became final.
    package var endedAt: Date?
    /// What it asks Apple for; nil where it leaves that to Apple.
    ///
    /// Kept when `body` is emptied.
    package var refundPreference: ConsumptionV2.RefundPreference?
    /// Set if the app's policy gave it.
    package var policy: PolicyTrace?

    package init(
        id: String, app: String, caseID: String?, user: UserID?, acceptedFor: UserID? = nil,
        owner: UserID? = nil, caller: String, transactionID: String,
        environment: AppStoreEnvironment?, purchase: PurchaseFacts?, version: DeliveryVersion, body: [UInt8],
        state: State = .queued, createdAt: Date, deadline: Date, requestedDeadline: Date? = nil, nextAttemptAt: Date?,
        attempts: [DeliveryAttempt] = [], attemptCount: Int = 0, mayHaveReachedApple: Bool = false,
        warnings: [String] = [], failure: DeliveryFailure? = nil, endedAt: Date? = nil,
        refundPreference: ConsumptionV2.RefundPreference? = nil, policy: PolicyTrace? = nil
    ) {
        self.id = id
        self.app = app
        self.caseID = caseID
        self.user = user
        self.acceptedFor = acceptedFor
        self.owner = owner
        self.caller = caller
        self.transactionID = transactionID
        self.environment = environment
        self.purchase = purchase
        self.version = version
        self.body = body
        self.state = state
        self.createdAt = createdAt
        self.deadline = deadline
        self.requestedDeadline = requestedDeadline
        self.nextAttemptAt = nextAttemptAt
        self.attempts = attempts
        self.attemptCount = attemptCount
        self.mayHaveReachedApple = mayHaveReachedApple
        self.warnings = warnings
        self.failure = failure
        self.endedAt = endedAt
        self.refundPreference = refundPreference
        self.policy = policy
    }
}

/// Which rule of an app's policy gave an answer, and from which facts.
package struct PolicyTrace: Sendable, Equatable {
    package let rule: String
    /// The names of the facts that it used, such as `consumptionPercentage`; their values are in what was sent.
    package let facts: [String]
    /// When the usage was so, by the report that was used; nil when none was.
    package let usageAt: Date?

    package init(rule: String, facts: [String], usageAt: Date?) {
        self.rule = rule
        self.facts = facts
        self.usageAt = usageAt
    }
}

extension Delivery {
    /// The user that it is told to be of: the present owner, as far as one is known.
    package var presentUser: UserID? { owner ?? acceptedFor }

    /// Whether what was sent is shown: only while it is of the user for whom it was accepted.
    package var isReportShown: Bool {
        guard !body.isEmpty else { return false }
        guard let owner else { return true }
        return acceptedFor?.isSameUser(as: owner) ?? false
    }
}

/// One try to hand a delivery to Apple.
package struct DeliveryAttempt: Sendable, Equatable {
    package let startedAt: Date
    /// In whole microseconds.
    package let duration: Duration
    /// Apple's HTTP status; nil when no answer came.
    package let httpStatus: Int?
    /// Apple's error number, where it sent one.
    package let errorCode: Int64?
    /// Why it failed, in few words; nil when Apple accepted.
    package let failure: String?

    /// - Parameters:
    ///   - startedAt: when it began.
    ///   - duration: how long it took; what is less than a microsecond is dropped.
    ///   - httpStatus: Apple's HTTP status; nil when no answer came.
    ///   - errorCode: Apple's error number, where it sent one.
    ///   - failure: why it failed, in few words; nil when Apple accepted.
    package init(startedAt: Date, duration: Duration, httpStatus: Int?, errorCode: Int64?, failure: String?) {
        self.startedAt = startedAt
        self.duration = .microseconds(duration.wholeMicroseconds)
        self.httpStatus = httpStatus
        self.errorCode = errorCode
        self.failure = failure
    }

    /// An attempt of which nobody knows what became, because the process ended meanwhile.
    package static func interrupted(startedAt: Date) -> DeliveryAttempt {
        DeliveryAttempt(
            startedAt: startedAt, duration: .zero, httpStatus: nil, errorCode: nil, failure: "interrupted")
    }
}

extension Duration {
    /// The whole microseconds; what is less is dropped.
    package var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}

/// Why a delivery has not been accepted, as it is kept with it.
package struct DeliveryFailure: Sendable, Equatable {
    package let reason: ServiceError.Reason
    /// One sentence for the caller.
    package let message: String
    /// What Apple answered, when the failure is Apple's answer.
    package let apple: AppleFailure?

    package init(reason: ServiceError.Reason, message: String, apple: AppleFailure? = nil) {
        self.reason = reason
        self.message = message
        self.apple = apple
    }

    /// The failure that an error means.
    package init(_ error: ServiceError) {
        self.init(reason: error.reason, message: error.message, apple: error.apple)
    }

    /// The error that tells a caller of it.
    package var error: ServiceError { ServiceError(reason, message, apple: apple) }
}
