package import AppStoreAPI

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
    /// What the customer wrote beside the reason; nil for nothing.
    package let text: String?
    /// UNIX milliseconds.
    package let requestDate: Int64
    /// How often Apple has asked for consumption information.
    package internal(set) var askedCount = 0
    /// When Apple asks again, UNIX milliseconds.
    package internal(set) var nextRepeatDate: Int64?
    /// When Apple decides by itself, UNIX milliseconds; nil when it does not.
    package internal(set) var decisionDate: Int64?
    /// What the consumption information that came in says; of several the last.
    package internal(set) var answer: ReceivedAnswer?
    /// Nil while it is undecided.
    package internal(set) var decision: Decision?
}

/// The refund requests of all customers; no clock, no notifications.
struct RefundRequestStore: Sendable {
    private(set) var requests: [RefundRequest] = []
    private var rules: [SimulatedEnvironment: RefundRules] = [:]
    private let seed: UInt64

    /// - Parameter seed: what chances are drawn from where rules name no seed.
    init(seed: UInt64) { self.seed = seed }

    /// What Apple does by itself in an environment; applies to requests made from then on.
    subscript(environment: SimulatedEnvironment) -> RefundRules {
        get { rules[environment] ?? .standard(in: environment) }
        set { rules[environment] = newValue }
    }

    /// Takes a request, unless the same transaction has one that is undecided.
    mutating func open(
        _ transactionID: String, in environment: SimulatedEnvironment, reason: ConsumptionRequestReason,
        text: String?, now: Int64
    ) throws(ControlError) {
        guard openIndex(transactionID) == nil else {
            throw .conflict("a refund of transaction \(transactionID) is requested already")
        }
        let rules = self[environment]
        requests.append(
            RefundRequest(
                transactionID: transactionID, environment: environment, reason: reason, text: text,
                requestDate: now, nextRepeatDate: now, decisionDate: rules.decisionDelay.map { now + $0 }))
    }

    /// Keeps what consumption information says.
    mutating func note(_ answer: ReceivedAnswer, of transactionID: String) {
        if let index = openIndex(transactionID) { requests[index].answer = answer }
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

    /// The requests whose time to be decided has come.
    func due(now: Int64) -> [RefundRequest] { requests.filter { $0.decisionDate.map { $0 <= now } ?? false } }

    /// How the rules of its environment decide a request now (UNIX milliseconds), or as of its time if that came before.
    func decision(
        on request: RefundRequest, of purchase: TransactionPayload, now: Int64
    ) -> RefundRequest.Decision {
        self[request.environment].decision(
            on: request, of: purchase, at: request.decisionDate.map { min($0, now) } ?? now, seed: seed)
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
    /// - Parameters:
    ///   - transactionID: any transaction id of the purchase.
    ///   - reason: what the customer chose.
    ///   - text: what the customer wrote beside it; in the sandbox some texts decide (``RefundRules/Policy/sandbox``).
    /// - Throws: ``ControlError``
    package func requestRefund(
        of transactionID: String, reason: ConsumptionRequestReason, text: String? = nil
    ) throws(ControlError) {
        let now = milliseconds
        try withContent { content throws(ControlError) in
            let record = try content.world.record(transactionID)
            guard record.payload.inAppOwnershipType == .purchased else {
                throw .conflict("a family member cannot have a refund; refund the purchaser's transaction")
            }
            guard record.payload.revocationDate == nil else { throw .conflict("it is refunded already") }
            try content.refundRequests.open(
                transactionID, in: record.environment, reason: reason, text: text, now: now)
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
        for request in refundRequests.due(now: now) {
            do throws(ControlError) {
                let purchase = try world.record(request.transactionID).payload
                let decision = refundRequests.decision(on: request, of: purchase, now: now)
                try decideRefund(of: request.transactionID, decision, now: now)
            } catch {
                // Refunded in another way meanwhile: there is nothing left to give back.
                refundRequests.close(request.transactionID, .decline)
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
