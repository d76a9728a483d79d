/// How urgent a call is when Apple's rate limit runs short.
package enum CallPriority: String, Sendable, Hashable, CaseIterable {
    /// Somebody waits for the answer.
    case interactive
    /// Work that must reach Apple before a deadline: consumption. It may use the reserved share.
    case deadlineBound
    /// Work that can wait: it counts as interactive, and leaves half of what that may use to those who wait.
    case background
}

/// One attempt to call Apple, as the budget counts it.
package struct BudgetedCall: Sendable, Hashable {
    /// The caller of our own work.
    package static let ownWork = ""
    /// Whose calls those are that a copy of the daemon may have made before it died: nobody's; no caller can have this name.
    package static let lost = "(lost)"

    /// The app's slug.
    package let app: String
    /// The title of Apple's page for the call, such as `Get Refund History`.
    package let endpoint: String
    package let environment: AppStoreEnvironment
    /// The name of the caller on whose behalf it is made; empty for our own work.
    package let caller: String
    package let priority: CallPriority

    package init(
        app: String, endpoint: String, environment: AppStoreEnvironment, caller: String, priority: CallPriority
    ) {
        self.app = app
        self.endpoint = endpoint
        self.environment = environment
        self.caller = caller
        self.priority = priority
    }
}

/// What the budget says of a call.
package enum BudgetDecision: Sendable, Equatable {
    /// The call may be made, and has been counted.
    case admitted
    /// It may not be made now.
    case refused(Refusal)

    /// Why a call may not be made, and how long that lasts at least.
    package struct Refusal: Sendable, Equatable {
        package enum Cause: String, Sendable, Equatable {
            /// The app's hour is used up, the reserve aside.
            case exhausted
            /// The caller has used its share, and there is nothing left to borrow.
            case unfair
            /// The caller's own quota is used up.
            case quota
            /// Apple has asked to wait.
            case apple
        }

        package let cause: Cause
        package let retryAfter: Duration

        package init(cause: Cause, retryAfter: Duration) {
            self.cause = cause
            self.retryAfter = retryAfter
        }
    }
}

/// Keeps calls within Apple's rate limits; asked before every attempt.
package protocol CallBudget: Sendable {
    /// Is told before a call is asked for, and may wait for what is needed to decide about it; where one process has the store it does
    /// nothing.
    func prepare(_ call: BudgetedCall) async

    /// Counts a call and admits it, or refuses it; never waits.
    func admit(_ call: BudgetedCall) -> BudgetDecision

    /// Takes note of Apple's own 429: nothing more is admitted for this app, endpoint and environment so long.
    func appleRefused(_ call: BudgetedCall, for duration: Duration)
}

extension CallBudget {
    package func prepare(_ call: BudgetedCall) async {}
}
