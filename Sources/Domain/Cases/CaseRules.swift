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
        package let purchase: PurchaseFacts
        package let signedAt: Date
        package let receivedAt: Date

        package init(
            message: Message, notificationUUID: String, app: String, purchase: PurchaseFacts, signedAt: Date,
            receivedAt: Date
        ) {
            self.message = message
            self.notificationUUID = notificationUUID
            self.app = app
            self.purchase = purchase
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
        /// Every case of the transaction in the environment.
        package var cases: [RefundCase] = []
        /// Outcomes of the transaction that were recorded before, with the dates at which Apple signed them: one may have
        /// come before the request that it decides.
        package var outcomes: [(outcome: RefundCase.Outcome, signedAt: Date)] = []
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
            decision(notice, Decision(outcome: outcome, signedAt: notice.signedAt), situation, newID)
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
        if let known { return .remind(ledger.settled(known, known.requests + [request])) }
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
            transactionID: notice.purchase.transactionID, purchase: notice.purchase, owner: owner, state: .open,
            reason: nil, requestedAt: request.signedAt, openedAt: notice.receivedAt, deadline: request.deadline,
            requests: [request])
    }
}
