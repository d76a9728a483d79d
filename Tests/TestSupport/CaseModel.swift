package import Domain
package import Foundation

/// Takes notices about one transaction as a store does: asks `CaseRules` and applies what it says.
package struct CaseModel {
    package var cases: [RefundCase] = []
    private var outcomes: [CaseRules.Decision] = []
    private var nextID = 1

    package init() {}

    @discardableResult
    package mutating func take(_ notice: CaseRules.Notice) -> CaseRules.Change {
        var situation = CaseRules.Situation()
        situation.cases = cases
        situation.outcomes = outcomes
        let change = CaseRules.change(notice, situation, newID: "case-\(nextID)")
        switch change {
        case .none: break
        case .open(let new): add(new)
        case .remind(let known), .decide(let known): replace(known)
        case .separate(let decided, let new):
            replace(decided)
            add(new)
        }
        if case .outcome(let outcome) = notice.message { outcomes.append(CaseRules.Decision(outcome, notice)) }
        return change
    }

    /// Declines every open case.
    package mutating func decline(at hour: Double) {
        for index in cases.indices where cases[index].state == .open {
            cases[index].state = .declined
            cases[index].decline = Self.declined(at: hour)
        }
    }

    private mutating func add(_ refundCase: RefundCase) {
        cases.append(refundCase)
        nextID += 1
    }

    private mutating func replace(_ refundCase: RefundCase) {
        for index in cases.indices where cases[index].id == refundCase.id { cases[index] = refundCase }
    }
}

extension CaseModel {
    /// So many hours after the beginning of a test's time.
    package static func time(_ hours: Double) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + hours * 3600) }

    package static func declined(at hour: Double) -> RefundCase.Decline {
        RefundCase.Decline(caller: "shop", note: "no consent", at: time(hour))
    }

    /// `CONSUMPTION_REQUEST`; hours count as in `time`, and it is received when it is signed unless another hour is given.
    package static func request(
        _ uuid: String, at hour: Double, received: Double? = nil, reason: String? = nil,
        transaction: Transaction = .sample()
    ) -> CaseRules.Notice {
        notice(uuid, .request(reason: reason), at: hour, received: received, transaction: transaction)
    }

    /// `REFUND`, `REFUND_DECLINED` or `REFUND_REVERSED`.
    package static func outcome(
        _ uuid: String, _ outcome: RefundCase.Outcome, at hour: Double, transaction: Transaction = .sample()
    ) -> CaseRules.Notice {
        notice(uuid, .outcome(outcome), at: hour, transaction: transaction)
    }

    package static func notice(
        _ uuid: String, _ message: CaseRules.Message, at hour: Double, received: Double? = nil,
        transaction: Transaction = .sample()
    ) -> CaseRules.Notice {
        CaseRules.Notice(
            message: message, notificationUUID: uuid, app: "coins", purchase: transaction.facts,
            signedAt: time(hour), receivedAt: time(received ?? hour))
    }
}

extension Collection {
    /// Every order of the elements.
    package var permutations: [[Element]] {
        guard let first else { return [[]] }
        return Array(dropFirst()).permutations.flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + rest[$0...] }
        }
    }
}
