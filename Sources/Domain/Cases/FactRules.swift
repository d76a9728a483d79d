package import Foundation

/// Decides what follows from everything that is known of one purchase, whatever the order in which it became known.
///
/// Pure, so that every store gives the same answers: a store loads the situation of the purchase, asks here, and writes the
/// changes, within one transaction. Nothing is decided once and frozen: each fact that arrives has all of it judged anew, so
/// that the end is the one of the order in which the facts should have come. Only what has been sent cannot be unsent.
package enum FactRules {
    /// How far Apple's clock may be from ours, in seconds: an answer that is so much older than a request may be for it.
    package static let clockTolerance: TimeInterval = 300

    /// What is known of a purchase in one environment.
    package struct Situation: Sendable {
        /// Every case, and what Apple decided.
        package var cases: CaseRules.Situation
        /// Its deliveries that are under way or that Apple has accepted.
        package var deliveries: [Delivery] = []

        package init(cases: CaseRules.Situation = CaseRules.Situation(), deliveries: [Delivery] = []) {
            self.cases = cases
            self.deliveries = deliveries
        }
    }

    /// What a store must write.
    package struct Changes: Sendable, Equatable {
        /// What the notice did to cases, if there was one.
        package var notice: CaseRules.Change = .none
        /// Cases that an accepted delivery answers.
        package var answered: [RefundCase] = []
        package var deliveries: [DeliveryChange] = []
    }

    /// What becomes of a delivery.
    package struct DeliveryChange: Sendable, Equatable {
        package let id: String
        /// The case that it answers now.
        package let caseID: String?
        package let deadline: Date
        /// Why it ends, if it does.
        package let end: DeliveryFailure?
    }

    /// What the arrival of a notice changes; without one, what the situation itself still lacks.
    ///
    /// `newID`: the id of the case, should one be opened.
    package static func changes(
        _ situation: Situation, _ notice: CaseRules.Notice? = nil, newID: String = ""
    ) -> Changes {
        var changes = Changes()
        var known = situation.cases
        if let notice {
            changes.notice = CaseRules.change(notice, known, newID: newID)
            known.apply(changes.notice)
            if case .outcome(let outcome) = notice.message { known.outcomes.append(.init(outcome, notice)) }
        }
        let places = Places(known)
        for delivery in situation.deliveries {
            let place = places.place(of: delivery)
            if delivery.state == .accepted {
                if let answered = place.refundCase, answered.state == .open || answered.state == .expired,
                    !changes.answered.contains(where: { $0.id == answered.id })
                {
                    changes.answered.append(answered)
                }
                if place.refundCase?.id != delivery.caseID {
                    changes.deliveries.append(
                        DeliveryChange(
                            id: delivery.id, caseID: place.refundCase?.id, deadline: delivery.deadline, end: nil))
                }
            } else if !delivery.state.isFinal {
                let change = DeliveryChange(
                    id: delivery.id, caseID: place.refundCase?.id, deadline: place.deadline(of: delivery),
                    end: place.end)
                if change.end != nil || change.caseID != delivery.caseID || change.deadline != delivery.deadline {
                    changes.deliveries.append(change)
                }
            }
        }
        return changes
    }
}

extension CaseRules.Situation {
    /// The cases as they are after a change.
    fileprivate mutating func apply(_ change: CaseRules.Change) {
        func replace(_ refundCase: RefundCase) {
            cases.removeAll { $0.id == refundCase.id }
            cases.append(refundCase)
        }
        switch change {
        case .none: break
        case .open(let new): cases.append(new)
        case .remind(let known), .decide(let known): replace(known)
        case .separate(let decided, let new):
            replace(decided)
            cases.append(new)
        }
    }
}

// MARK: Which request a delivery answers

extension FactRules {
    /// Where a delivery stands among the cases and decisions of its purchase.
    package struct Place: Sendable {
        /// The case that it answers; nil as long as the request is not known.
        package let refundCase: RefundCase?
        /// Why it ends, if it does.
        package let end: DeliveryFailure?
        /// Whether Apple had refunded the purchase before, so that it must not be sent as long as no later request is known.
        package var isRefunded = false

        /// The end of its use: the case's, else Apple's 12 hours from its acceptance here; its caller can only shorten it.
        ///
        /// A case whose deadline passed before the delivery was made gives none.
        package func deadline(of delivery: Delivery) -> Date {
            let latest = delivery.createdAt.addingTimeInterval(RefundCase.answerWindow)
            let end = refundCase.map { $0.deadline > delivery.createdAt ? $0.deadline : latest } ?? latest
            return min(delivery.requestedDeadline ?? end, end)
        }
    }

    /// The cases and decisions of a purchase, in the order of Apple's dates.
    package struct Places: Sendable {
        private let cases: [RefundCase]
        private let ledger: CaseRules.Ledger

        package init(_ situation: CaseRules.Situation) {
            cases = situation.cases.sorted { ($0.requestedAt, $0.id) < ($1.requestedAt, $1.id) }
            ledger = CaseRules.Ledger(situation)
        }

        /// Where a delivery stands, by the time at which it was made.
        package func place(of delivery: Delivery) -> Place {
            guard let refundCase = cases.last(where: { mayAnswer($0, delivery.createdAt) }) else {
                return Place(
                    refundCase: nil, end: ledger.first(since: delivery.createdAt).map { _ in .decided },
                    isRefunded: ledger.isRefunded(at: delivery.createdAt))
            }
            switch refundCase.state {
            case .decided: return Place(refundCase: refundCase, end: .decided)
            case .declined: return Place(refundCase: refundCase, end: .declined)
            case .open, .answered, .expired: return Place(refundCase: refundCase, end: nil)
            }
        }

        /// Whether what was made at a time can be meant for a case: after what Apple decided before, not after what Apple
        /// decided about it, and with the request in view or signed at most a little later.
        private func mayAnswer(_ refundCase: RefundCase, _ createdAt: Date) -> Bool {
            if let decidedAt = refundCase.decidedAt, createdAt > decidedAt { return false }
            if refundCase.requests.contains(where: { $0.receivedAt <= createdAt }) { return true }
            if let before = ledger.latest(before: refundCase.requestedAt), createdAt <= before.signedAt { return false }
            return createdAt >= refundCase.requestedAt.addingTimeInterval(-FactRules.clockTolerance)
        }
    }
}

extension DeliveryFailure {
    /// Apple does not wait for it any more.
    package static let decided = DeliveryFailure(reason: .caseClosed, message: "Apple has decided about the refund.")
    /// The company does not answer.
    package static let declined = DeliveryFailure(reason: .caseClosed, message: "The case was declined.")
}
