package import Foundation

/// Which of Apple's two endpoints a delivery goes to.
package enum DeliveryVersion: String, Sendable {
    case v2 = "V2"
    case v1 = "V1"
}

/// One consumption answer on its way to Apple.
package struct Delivery: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Apple accepted it.
        case accepted
        /// Apple refused it for good.
        case refused
        /// It could not be sent before its deadline.
        case expired
    }

    /// A UUID whose order is the order of creation (version 7).
    package let id: String
    package let app: String
    /// The user that the caller named, if it named one.
    package let user: UserID?
    /// Who sent it here.
    package let caller: String
    package let transactionID: String
    package let environment: AppStoreEnvironment
    package let version: DeliveryVersion
    package let state: State
    package let createdAt: Date
    /// After this it is of no use to Apple.
    package let deadline: Date
    package let attempts: [DeliveryAttempt]
    /// Whether Apple may have it although the state is not `accepted`.
    package let mayHaveReachedApple: Bool
    package let warnings: [String]

    package init(
        id: String, app: String, user: UserID?, caller: String, transactionID: String,
        environment: AppStoreEnvironment, version: DeliveryVersion, state: State, createdAt: Date, deadline: Date,
        attempts: [DeliveryAttempt], mayHaveReachedApple: Bool, warnings: [String]
    ) {
        self.id = id
        self.app = app
        self.user = user
        self.caller = caller
        self.transactionID = transactionID
        self.environment = environment
        self.version = version
        self.state = state
        self.createdAt = createdAt
        self.deadline = deadline
        self.attempts = attempts
        self.mayHaveReachedApple = mayHaveReachedApple
        self.warnings = warnings
    }
}

/// One try to hand a delivery to Apple.
package struct DeliveryAttempt: Sendable, Equatable {
    package let startedAt: Date
    package let duration: Duration
    /// Apple's HTTP status; nil when no answer came.
    package let httpStatus: Int?
    /// Apple's error number, where it sent one.
    package let errorCode: Int64?
    /// Why it failed, in few words; nil when Apple accepted.
    package let failure: String?

    package init(startedAt: Date, duration: Duration, httpStatus: Int?, errorCode: Int64?, failure: String?) {
        self.startedAt = startedAt
        self.duration = duration
        self.httpStatus = httpStatus
        self.errorCode = errorCode
        self.failure = failure
    }
}
