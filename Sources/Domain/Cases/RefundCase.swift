package import Foundation

/// A refund request of one transaction in one environment: opened by Apple's first `CONSUMPTION_REQUEST`, closed by its
/// outcome.
package struct RefundCase: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Apple waits for an answer.
        case open
        /// Apple has accepted an answer.
        case answered
        /// The company does not answer: nothing is sent.
        case declined
        /// The deadline passed without an answer.
        case expired
        /// Apple has decided.
        case decided
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case refunded
        case refundDeclined
        case refundReversed
    }

    /// How long Apple waits for an answer, from the first request on.
    package static let answerWindow: TimeInterval = 12 * 3600

    /// A UUID whose order is the order of creation (version 7).
    package let id: String
    package let app: String
    package let environment: AppStoreEnvironment
    /// The one of Apple's notification, to be used exactly.
    package let transactionID: String
    package var purchase: PurchaseFacts
    /// By Apple's requests.
    package var terms: PurchaseTerms
    /// By the owner rule, kept up to date while the case is open; nil when nobody is known, and after an erasure.
    package var owner: UserID?
    package var state: State
    /// Apple's `consumptionRequestReason`, such as `UNINTENDED_PURCHASE`.
    package var reason: String?
    /// When Apple signed the earliest request.
    package var requestedAt: Date
    /// When the case was opened here.
    package let openedAt: Date
    /// 12 hours after the first request, or after one that came when the case had expired without an answer.
    package var deadline: Date
    /// Apple's requests, the first included, by signed date.
    package var requests: [Request]
    /// Set while the state is `declined`, and kept after Apple's decision.
    package var decline: Decline?
    package var outcome: Outcome?
    /// When Apple signed the decision.
    package var decidedAt: Date?
    /// The part of the price that Apple gave back, in milliunits: 100,000 is all of it; nil where Apple did not tell.
    ///
    /// Kept when the refund is reversed.
    package var revocationPercentage: Int32?

    /// Whether it takes an answer that is made at a time.
    package func takesAnswers(at now: Date) -> Bool {
        switch state {
        case .answered: true
        case .open: now < deadline
        case .declined, .expired, .decided: false
        }
    }

    /// Whether Apple has asked again after the case had expired, and so waits longer than 12 hours from the first request.
    package var isLate: Bool {
        guard let first = requests.map({ min($0.signedAt, $0.receivedAt) }).min() else { return false }
        return deadline > first.addingTimeInterval(Self.answerWindow)
    }

    /// One `CONSUMPTION_REQUEST` of Apple's.
    package struct Request: Sendable, Equatable {
        package let notificationUUID: String
        package let signedAt: Date
        package let receivedAt: Date
        /// Apple's `consumptionRequestReason` in this one.
        package let reason: String?

        package init(notificationUUID: String, signedAt: Date, receivedAt: Date, reason: String? = nil) {
            self.notificationUUID = notificationUUID
            self.signedAt = signedAt
            self.receivedAt = receivedAt
            self.reason = reason
        }
    }

    /// The decision not to answer.
    package struct Decline: Sendable, Equatable {
        /// The caller that declined.
        package let caller: String
        /// What it gave as reason, if anything.
        package let note: String?
        package let at: Date

        package init(caller: String, note: String?, at: Date) {
            self.caller = caller
            self.note = note
            self.at = at
        }
    }

    package init(
        id: String, app: String, environment: AppStoreEnvironment, transactionID: String, purchase: PurchaseFacts,
        terms: PurchaseTerms = PurchaseTerms(), owner: UserID?, state: State, reason: String?, requestedAt: Date,
        openedAt: Date, deadline: Date,
        requests: [Request], decline: Decline? = nil, outcome: Outcome? = nil, decidedAt: Date? = nil,
        revocationPercentage: Int32? = nil
    ) {
        self.id = id
        self.app = app
        self.environment = environment
        self.transactionID = transactionID
        self.purchase = purchase
        self.terms = terms
        self.owner = owner
        self.state = state
        self.reason = reason
        self.requestedAt = requestedAt
        self.openedAt = openedAt
        self.deadline = deadline
        self.requests = requests
        self.decline = decline
        self.outcome = outcome
        self.decidedAt = decidedAt
        self.revocationPercentage = revocationPercentage
    }
}
