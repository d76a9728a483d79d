package import Foundation

/// Decides what a notification does to the case of its transaction.
///
/// Pure, so that every store gives the same answers: a store loads what the rule looks at, asks here, and applies the change
/// within one transaction. Signed dates order what arrives out of order.
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
        case .outcome(let outcome): decision(notice, outcome, situation)
        }
    }

    /// A request belongs to the case that Apple had not decided when it signed the request; else it opens a new one.
    private static func request(
        _ notice: Notice, _ reason: String?, _ situation: Situation, _ newID: String
    ) -> Change {
        let request = RefundCase.Request(
            notificationUUID: notice.notificationUUID, signedAt: notice.signedAt, receivedAt: notice.receivedAt)
        if var known = caseInForce(at: notice.signedAt, situation.cases) {
            guard !known.requests.contains(where: { $0.notificationUUID == request.notificationUUID }) else {
                return .none
            }
            known.requests.append(request)
            known.requests.sort { $0.signedAt < $1.signedAt }
            if notice.signedAt < known.requestedAt {
                known.requestedAt = notice.signedAt
                known.deadline = deadline(of: notice)
                known.reason = reason ?? known.reason
            } else {
                known.reason = known.reason ?? reason
            }
            return .remind(known)
        }
        var new = RefundCase(
            id: newID, app: notice.app, environment: notice.purchase.environment,
            transactionID: notice.purchase.transactionID, purchase: notice.purchase, owner: situation.owner,
            state: .open, reason: reason, requestedAt: notice.signedAt, openedAt: notice.receivedAt,
            deadline: deadline(of: notice), requests: [request])
        let decision = situation.outcomes.filter { $0.outcome != .refundReversed && $0.signedAt >= notice.signedAt }
            .min { $0.signedAt < $1.signedAt }
        if let decision {
            new.state = .decided
            new.outcome = decision.outcome
            new.decidedAt = decision.signedAt
        } else if new.deadline <= notice.receivedAt {
            new.state = .expired
        }
        return .open(new)
    }

    private static func decision(
        _ notice: Notice, _ outcome: RefundCase.Outcome, _ situation: Situation
    ) -> Change {
        let cases = situation.cases.sorted { $0.requestedAt < $1.requestedAt }
        if outcome == .refundReversed {
            // Only a refund can be reversed.
            let refundedCase = cases.last {
                $0.outcome == .refunded && ($0.decidedAt ?? .distantPast) <= notice.signedAt
            }
            guard var refunded = refundedCase else { return .none }
            refunded.outcome = .refundReversed
            return .decide(refunded)
        }
        guard var known = cases.last(where: { $0.requestedAt <= notice.signedAt && $0.state != .decided }) else {
            return .none
        }
        known.state = .decided
        known.outcome = outcome
        known.decidedAt = notice.signedAt
        return .decide(known)
    }

    /// The case that a request signed at this time repeats, if any: the first that Apple decided later, or has not decided.
    private static func caseInForce(at date: Date, _ cases: [RefundCase]) -> RefundCase? {
        cases.sorted { $0.requestedAt < $1.requestedAt }.first { known in
            known.state != .decided || (known.decidedAt ?? .distantFuture) > date
        }
    }

    /// A clock of Apple's that is ahead of ours must not give more time than there is.
    private static func deadline(of notice: Notice) -> Date {
        min(notice.signedAt, notice.receivedAt).addingTimeInterval(RefundCase.answerWindow)
    }
}
