package import AppStoreAPI
import JSON

/// A customer's wish to have money back, until it is decided and beyond.
package struct RefundRequest: Sendable {
    /// What becomes of it.
    package enum Decision: Sendable, Hashable {
        /// In milliunits: 100000 is a full refund, less a prorated one.
        case refund(percentage: Int32)
        case decline
    }

    package let transactionID: String
    let environment: SimulatedEnvironment
    package let reason: ConsumptionRequestReason
    /// UNIX milliseconds.
    package let requestDate: Int64
    /// How often Apple has asked for consumption information.
    package internal(set) var askedCount = 0
    /// When Apple asks again, UNIX milliseconds.
    package internal(set) var nextRepeatDate: Int64?
    /// When Apple decides by itself, UNIX milliseconds; nil when it does not.
    package internal(set) var decisionDate: Int64?
    /// What the consumption information that came in asks for.
    package internal(set) var preference: Decision?
    /// Nil while it is undecided.
    package internal(set) var decision: Decision?
}

/// What Apple does about refund requests by itself.
package struct RefundRules: Sendable, Hashable {
    /// How Apple decides when nobody tells it.
    package enum Policy: String, Sendable, Hashable, CaseIterable {
        case refund = "REFUND"
        case decline = "REFUND_DECLINED"
        /// As the consumption information asks; a full refund without any.
        case preference = "PREFERENCE"
    }

    /// From one consumption request to the next, in milliseconds of simulated time; Apple does not say how often it asks.
    package var repeatInterval: Int64
    /// From the request to the decision, in milliseconds of simulated time; nil leaves it to the control port.
    package var decisionDelay: Int64?
    package var policy: Policy

    package init(repeatInterval: Int64 = 4 * 3_600_000, decisionDelay: Int64? = nil, policy: Policy = .refund) {
        self.repeatInterval = repeatInterval
        self.decisionDelay = decisionDelay
        self.policy = policy
    }
}

/// The refund requests of all customers; no clock, no notifications.
struct RefundRequestStore: Sendable {
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

extension SimulatorState {
    /// All refund requests, the oldest first.
    package var refundRequests: [RefundRequest] { withContent { $0.refundRequests.requests } }

    /// What Apple does about refund requests by itself in an environment.
    package func setRefundRules(_ rules: RefundRules, in environment: SimulatedEnvironment) {
        withContent { $0.refundRequests[environment] = rules }
    }

    /// Lets a customer ask for a refund; Apple asks the app for consumption information until it is decided.
    ///
    /// - Throws: ``ControlError``
    package func requestRefund(
        of transactionID: String, reason: ConsumptionRequestReason
    ) throws(ControlError) {
        let now = milliseconds
        try withContent { content throws(ControlError) in
            let record = try content.world.record(transactionID)
            guard record.payload.inAppOwnershipType == .purchased else {
                throw .conflict("a family member cannot have a refund; refund the purchaser's transaction")
            }
            guard record.payload.revocationDate == nil else { throw .conflict("it is refunded already") }
            try content.refundRequests.open(transactionID, in: record.environment, reason: reason, now: now)
            content.workOnRefunds(now: now)
        }
        agendaChanged()
    }

    /// Decides a refund request.
    ///
    /// - Throws: ``ControlError``
    package func decideRefund(
        of transactionID: String, _ decision: RefundRequest.Decision
    ) throws(ControlError) {
        let now = milliseconds
        try withContent { content throws(ControlError) in
            try content.decideRefund(of: transactionID, decision, now: now)
        }
        agendaChanged()
    }
}

extension SimulatorState.Content {
    /// Asks for consumption information and decides what is due.
    mutating func workOnRefunds(now: Int64) {
        for (transactionID, decision) in refundRequests.dueDecisions(now: now) {
            do throws(ControlError) {
                try decideRefund(of: transactionID, decision, now: now)
            } catch {
                // Refunded in another way meanwhile: there is nothing left to give back.
                refundRequests.close(transactionID, .decline)
            }
        }
        for request in refundRequests.takeRepeats(now: now) {
            guard let record = world.records[request.transactionID], !record.isRefunded else { continue }
            post(draft(.consumptionRequest, about: record, at: now, reason: request.reason), now: now)
        }
    }

    mutating func decideRefund(
        of transactionID: String, _ decision: RefundRequest.Decision, now: Int64
    ) throws(ControlError) {
        guard let request = refundRequests.undecided(transactionID) else {
            throw .notFound("no refund of transaction \(transactionID) is undecided")
        }
        switch decision {
        case .refund(let percentage):
            let isFaultOfApp = request.reason == .fulfillmentIssue || request.reason == .unsatisfiedWithPurchase
            let refund = Refund(reason: isFaultOfApp ? .issue : .otherReason, percentage: percentage)
            _ = try world.refund(transactionID, refund, now: now)
            postEvents()
        case .decline:
            post(draft(.refundDeclined, about: try world.record(transactionID), at: now), now: now)
        }
        refundRequests.close(transactionID, decision)
    }
}

extension RefundRequest.Decision {
    /// What consumption information asks for, of either version; nil when it has no preference.
    init?(_ body: ConsumptionRequestBody) {
        guard let preference = body.value("refundPreference") else { return nil }
        let consumed = body.value("consumptionPercentage")?.int64 ?? 0
        switch (preference.string, preference.int64) {
        case (RefundPreference.decline.rawValue, _), (_, 2): self = .decline
        case (RefundPreference.grantFull.rawValue, _), (_, 1): self = .refund(percentage: Refund.whole)
        case (RefundPreference.grantProrated.rawValue, _):
            self = .refund(percentage: max(1, Refund.whole - Int32(consumed)))
        default: return nil
        }
    }
}
