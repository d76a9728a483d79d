import AppStoreAPI

/// The refund requests of all customers; no clock, no notifications.
struct RefundDesk: Sendable {
    private(set) var requests: [RefundRequest] = []
    private var rules: [SimulatedEnvironment: RefundRules] = [:]

    /// What Apple does by itself in an environment; applies to requests made from then on.
    subscript(environment: SimulatedEnvironment) -> RefundRules {
        get { rules[environment] ?? RefundRules() }
        set { rules[environment] = newValue }
    }

    /// Takes a request, unless the same transaction has one that is undecided.
    mutating func open(
        _ transactionID: String, in environment: SimulatedEnvironment, reason: ConsumptionRequestReason, now: Int64
    ) throws(ControlError) {
        guard openIndex(transactionID) == nil else {
            throw .conflict("a refund of transaction \(transactionID) is requested already")
        }
        let rules = self[environment]
        requests.append(
            RefundRequest(
                transactionID: transactionID, environment: environment, reason: reason, requestDate: now,
                nextRepeatDate: now, decisionDate: rules.decisionDelay.map { now + $0 }))
    }

    /// Keeps what consumption information asks for.
    mutating func note(_ preference: RefundRequest.Decision?, of transactionID: String) {
        if let index = openIndex(transactionID) { requests[index].preference = preference }
    }

    /// Closes the undecided request about a transaction, if there is one.
    mutating func close(_ transactionID: String, _ decision: RefundRequest.Decision) {
        guard let index = openIndex(transactionID) else { return }
        requests[index].decision = decision
        requests[index].nextRepeatDate = nil
        requests[index].decisionDate = nil
    }

    /// The undecided request about a transaction.
    func undecided(_ transactionID: String) -> RefundRequest? { openIndex(transactionID).map { requests[$0] } }

    // MARK: Time

    /// The earliest time at which something is due, UNIX milliseconds.
    var nextDate: Int64? {
        requests.flatMap { [$0.nextRepeatDate, $0.decisionDate].compactMap { $0 } }.min()
    }

    /// The requests that Apple asks about now, their next times set.
    mutating func takeRepeats(now: Int64) -> [RefundRequest] {
        requests.indices.filter { requests[$0].nextRepeatDate.map { $0 <= now } ?? false }.map { index in
            requests[index].askedCount += 1
            requests[index].nextRepeatDate = now + self[requests[index].environment].repeatInterval
            return requests[index]
        }
    }

    /// The requests whose time to be decided has come, and how.
    func dueDecisions(now: Int64) -> [(transactionID: String, decision: RefundRequest.Decision)] {
        requests.filter { $0.decisionDate.map { $0 <= now } ?? false }.map { request in
            let decision: RefundRequest.Decision =
                switch self[request.environment].policy {
                case .refund: .refund(percentage: Refund.whole)
                case .decline: .decline
                case .preference: request.preference ?? .refund(percentage: Refund.whole)
                }
            return (request.transactionID, decision)
        }
    }

    private func openIndex(_ transactionID: String) -> Int? {
        requests.firstIndex { $0.transactionID == transactionID && $0.decision == nil }
    }
}
