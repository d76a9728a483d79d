package import Foundation

/// Decides what a notification does to the case of its transaction.
///
/// Pure, so that every store gives the same answers: a store loads what the rule looks at, asks here, and applies the change
/// within one transaction. Signed dates order what arrives out of order: the same notices end in the same cases, whatever the
/// order in which they came.
package enum CaseRules {
    /// What Apple says of a refund, told apart by the notification's type.
    package enum Message: Sendable, Equatable {
        /// `CONSUMPTION_REQUEST`.
        case request(reason: String?)
        /// `REFUND`, `REFUND_DECLINED`, `REFUND_REVERSED`.
        case outcome(RefundCase.Outcome)

        /// What a notification says; nil when it does not concern cases.
        package init?(type: String, consumptionRequestReason: String?) {
            switch type {
            case "CONSUMPTION_REQUEST": self = .request(reason: consumptionRequestReason)
            case "REFUND": self = .outcome(.refunded)
            case "REFUND_DECLINED": self = .outcome(.refundDeclined)
            case "REFUND_REVERSED": self = .outcome(.refundReversed)
            default: return nil
            }
        }
    }

    /// A notification that concerns a refund.
    package struct Notice: Sendable, Equatable {
        package let message: Message
        package let notificationUUID: String
        package let app: String
        /// The notification's transaction.
        package var purchase: PurchaseFacts
        package let terms: PurchaseTerms
        /// Of a refund: the part of the price that Apple gave back, in milliunits.
        package let revocationPercentage: Int32?
        package let signedAt: Date
        package let receivedAt: Date

        package init(
            message: Message, notificationUUID: String, app: String, purchase: PurchaseFacts,
            terms: PurchaseTerms = PurchaseTerms(), revocationPercentage: Int32? = nil, signedAt: Date, receivedAt: Date
        ) {
            self.message = message
            self.notificationUUID = notificationUUID
            self.app = app
            self.purchase = purchase
            self.terms = terms
            self.revocationPercentage = revocationPercentage
            self.signedAt = signedAt
            self.receivedAt = receivedAt
        }
    }

    /// What a store must do.
    package enum Change: Sendable, Equatable {
        case none
        /// Keep a new case.
        case open(RefundCase)
        /// Put the case in the place of the one with its id: one more request.
        case remind(RefundCase)
        /// Put the case in the place of the one with its id, and cancel its deliveries.
        case decide(RefundCase)
        /// Put the first case in the place of the one with its id, and keep the second as a new one: Apple had decided the
        /// first before it signed the requests that the second takes over. Deliveries go on, as they answer these.
        case separate(decided: RefundCase, new: RefundCase)
    }

    /// What the rule looks at.
    package struct Situation: Sendable {
        /// Every case of the purchase.
        package var cases: [RefundCase] = []
        /// Outcomes of the purchase that were recorded before: one may have come before the request that it decides.
        package var outcomes: [Decision] = []
        /// By the owner rule.
        package var owner: UserID?

        package init() {}
    }

    /// What a notice changes.
    ///
    /// `newID`: the id of the case, should one be opened.
    package static func change(_ notice: Notice, _ situation: Situation, newID: String) -> Change {
        switch notice.message {
        case .request(let reason): request(notice, reason, situation, newID)
        case .outcome(.refundReversed): reversal(notice, situation)
        case .outcome(let outcome):
            decision(notice, Decision(outcome, notice), situation, newID)
        }
    }

    /// A request belongs to a case unless Apple decided between the case's requests and this one; else it opens a new one.
    private static func request(
        _ notice: Notice, _ reason: String?, _ situation: Situation, _ newID: String
    ) -> Change {
        guard !situation.cases.contains(where: { $0.hasRequest(notice.notificationUUID) }) else { return .none }
        let request = RefundCase.Request(
            notificationUUID: notice.notificationUUID, signedAt: notice.signedAt, receivedAt: notice.receivedAt,
            reason: reason)
        let ledger = Ledger(situation)
        let known = situation.cases.sorted { $0.requestedAt < $1.requestedAt }.first { known in
            !ledger.isDecided(between: known.requests + [request])
        }
        if var known {
            known.purchase.appTransactionID = known.purchase.appTransactionID ?? notice.purchase.appTransactionID
            known.terms = known.terms.completed(by: notice.terms)
            return .remind(ledger.settled(known, known.requests + [request]))
        }
        return .open(ledger.settled(newCase(newID, notice, request, situation.owner), [request]))
    }

    /// A decision ends the case that was requested before, unless Apple had decided it by then; what was requested later is
    /// another case.
    private static func decision(
        _ notice: Notice, _ decision: Decision, _ situation: Situation, _ newID: String
    ) -> Change {
        var ledger = Ledger(situation)
        let known = situation.cases.filter { $0.requestedAt <= decision.signedAt }
            .max { $0.requestedAt < $1.requestedAt }
        guard let known, !ledger.isDecided(known, before: decision) else { return .none }
        ledger.add(decision)
        let later = known.requests.filter { $0.signedAt > decision.signedAt }
        let decided = ledger.settled(known, known.requests.filter { $0.signedAt <= decision.signedAt })
        guard let first = later.first else { return decided == known ? .none : .decide(decided) }
        var new = newCase(newID, notice, first, situation.owner)
        // Whoever declined with a later request in view declined that one.
        if let decline = known.decline, decline.at >= first.receivedAt {
            new.state = .declined
            new.decline = decline
        }
        return .separate(decided: decided, new: ledger.settled(new, later))
    }

    /// Only a refund can be reversed.
    private static func reversal(_ notice: Notice, _ situation: Situation) -> Change {
        let refunded = situation.cases.filter {
            $0.outcome == .refunded && ($0.decidedAt ?? .distantFuture) <= notice.signedAt
        }
        guard var latest = refunded.max(by: { $0.requestedAt < $1.requestedAt }) else { return .none }
        latest.outcome = .refundReversed
        return .decide(latest)
    }

    /// A case that is still to be settled.
    private static func newCase(
        _ id: String, _ notice: Notice, _ request: RefundCase.Request, _ owner: UserID?
    ) -> RefundCase {
        RefundCase(
            id: id, app: notice.app, environment: notice.purchase.environment,
            transactionID: notice.purchase.transactionID, purchase: notice.purchase, terms: notice.terms, owner: owner,
            state: .open,
            reason: nil, requestedAt: request.signedAt, openedAt: notice.receivedAt, deadline: request.deadline,
            requests: [request])
    }
}

// MARK: What Apple decided

extension CaseRules {
    /// What Apple told of its decision; that it took a refund back is told by another one.
    package struct Decision: Sendable, Equatable {
        package let outcome: RefundCase.Outcome
        package let signedAt: Date
        /// The part of the price that was given back, in milliunits; nil where Apple did not tell.
        package let revocationPercentage: Int32?

        package init(outcome: RefundCase.Outcome, signedAt: Date, revocationPercentage: Int32? = nil) {
            self.outcome = outcome
            self.signedAt = signedAt
            self.revocationPercentage = revocationPercentage
        }

        /// What a notice tells.
        package init(_ outcome: RefundCase.Outcome, _ notice: Notice) {
            self.init(
                outcome: outcome, signedAt: notice.signedAt,
                revocationPercentage: outcome == .refunded ? notice.revocationPercentage : nil)
        }

        /// Whether it counts before another one; of two signed at once, the order only has to be the same always.
        func precedes(_ other: Decision) -> Bool {
            (signedAt, outcome.rawValue) < (other.signedAt, other.outcome.rawValue)
        }
    }

    /// What Apple decided about a transaction, as far as it is known.
    struct Ledger: Sendable {
        private var decisions: [Decision]
        private let reversals: [Date]

        init(_ situation: Situation) {
            decisions = situation.outcomes.filter { $0.outcome != .refundReversed }
            // The notification of a decision may be forgotten before its case is.
            decisions += situation.cases.compactMap { known in
                guard let outcome = known.outcome, let decidedAt = known.decidedAt else { return nil }
                return Decision(
                    outcome: outcome == .refundReversed ? .refunded : outcome, signedAt: decidedAt,
                    revocationPercentage: known.revocationPercentage)
            }
            reversals = situation.outcomes.filter { $0.outcome == .refundReversed }.map(\.signedAt)
        }

        mutating func add(_ decision: Decision) { decisions.append(decision) }

        /// Whether Apple decided when it had signed some of these requests, but not all of them.
        func isDecided(between requests: [RefundCase.Request]) -> Bool {
            let dates = requests.map(\.signedAt)
            guard let first = dates.min(), let last = dates.max() else { return false }
            return decisions.contains { first <= $0.signedAt && $0.signedAt < last }
        }

        /// The latest decision before a time.
        func latest(before date: Date) -> Decision? {
            decisions.filter { $0.signedAt < date }.max { $0.precedes($1) }
        }

        /// The first decision at or after a time.
        func first(since date: Date) -> Decision? {
            decisions.filter { $0.signedAt >= date }.min { $0.precedes($1) }
        }

        /// Whether Apple had refunded the purchase by a time, and had not taken that back.
        func isRefunded(at date: Date) -> Bool {
            guard let latest = decisions.filter({ $0.signedAt <= date }).max(by: { $0.precedes($1) }),
                latest.outcome == .refunded
            else { return false }
            return !reversals.contains { $0 >= latest.signedAt && $0 <= date }
        }

        /// Whether an earlier decision than this one ended the case.
        func isDecided(_ known: RefundCase, before decision: Decision) -> Bool {
            decisions.contains { $0.signedAt >= known.requestedAt && $0.precedes(decision) }
        }

        /// The case with all that follows from these requests, none of which Apple decided before another.
        ///
        /// What our side did, an answer or a decline, stays until Apple decides.
        func settled(_ known: RefundCase, _ requests: [RefundCase.Request]) -> RefundCase {
            var settled = known
            settled.requests = requests.sorted {
                ($0.signedAt, $0.notificationUUID) < ($1.signedAt, $1.notificationUUID)
            }
            settled.requestedAt = settled.requests.first?.signedAt ?? known.requestedAt
            settled.deadline = known.deadline(of: requests)
            settled.reason = settled.requests.lazy.compactMap(\.reason).first
            let decision = decisions.filter { $0.signedAt >= settled.requestedAt }.min { $0.precedes($1) }
            if let decision {
                settled.state = .decided
                settled.outcome = isReversed(decision, known) ? .refundReversed : decision.outcome
                settled.decidedAt = decision.signedAt
                settled.revocationPercentage = decision.revocationPercentage
            } else if settled.state == .open || settled.isReopened(since: known) {
                settled.state = requests.contains { $0.receivedAt >= settled.deadline } ? .expired : .open
            }
            return settled
        }

        private func isReversed(_ decision: Decision, _ known: RefundCase) -> Bool {
            guard decision.outcome == .refunded else { return false }
            return reversals.contains { $0 >= decision.signedAt }
                || (known.outcome == .refundReversed && known.decidedAt == decision.signedAt)
        }
    }
}

extension RefundCase {
    func hasRequest(_ notificationUUID: String) -> Bool {
        requests.contains { $0.notificationUUID == notificationUUID }
    }
}

extension RefundCase {
    /// Until when Apple waits, given these requests: 12 hours from the first, and from one that came when these were over
    /// and nobody had answered or declined, as Apple then counts anew.
    fileprivate func deadline(of requests: [Request]) -> Date {
        var end: Date?
        for start in requests.map(\.start).sorted() {
            guard let present = end else {
                end = start.addingTimeInterval(Self.answerWindow)
                continue
            }
            let isDeclined = decline.map { $0.at <= start } ?? false
            if start >= present, !isDeclined { end = start.addingTimeInterval(Self.answerWindow) }
        }
        return end ?? deadline
    }

    /// Whether an expired case has been given more time.
    fileprivate func isReopened(since known: RefundCase) -> Bool { state == .expired && deadline > known.deadline }
}

extension RefundCase.Request {
    /// From when Apple counts.
    ///
    /// A clock of Apple's that is ahead of ours must not give more time than there is.
    fileprivate var start: Date { min(signedAt, receivedAt) }

    /// Until when Apple waits if this is the first request.
    fileprivate var deadline: Date { start.addingTimeInterval(RefundCase.answerWindow) }
}
