import Foundation

extension CaseRules {
    /// A decision of Apple's.
    struct Decision: Sendable, Equatable {
        /// `refunded` or `refundDeclined`.
        let outcome: RefundCase.Outcome
        let signedAt: Date

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
                .map { Decision(outcome: $0.outcome, signedAt: $0.signedAt) }
            // The notification of a decision may be forgotten before its case is.
            decisions += situation.cases.compactMap { known in
                guard let outcome = known.outcome, let decidedAt = known.decidedAt else { return nil }
                return Decision(
                    outcome: outcome == .refundReversed ? .refunded : outcome, signedAt: decidedAt)
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
            settled.deadline = requests.map(\.deadline).min() ?? known.deadline
            settled.reason = settled.requests.lazy.compactMap(\.reason).first
            let decision = decisions.filter { $0.signedAt >= settled.requestedAt }.min { $0.precedes($1) }
            if let decision {
                settled.state = .decided
                settled.outcome = isReversed(decision, known) ? .refundReversed : decision.outcome
                settled.decidedAt = decision.signedAt
            } else if settled.state == .open, requests.contains(where: { $0.receivedAt >= settled.deadline }) {
                settled.state = .expired
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

extension RefundCase.Request {
    /// Until when Apple waits if this is the first request.
    ///
    /// A clock of Apple's that is ahead of ours must not give more time than there is.
    var deadline: Date { min(signedAt, receivedAt).addingTimeInterval(RefundCase.answerWindow) }
}
