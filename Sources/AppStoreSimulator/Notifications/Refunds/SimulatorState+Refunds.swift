package import AppStoreAPI

extension SimulatorState {
    /// All refund requests, the oldest first.
    package var refundRequests: [RefundRequest] { withContent { $0.refundDesk.requests } }

    /// What Apple does about refund requests by itself in an environment.
    package func setRefundRules(_ rules: RefundRules, in environment: SimulatedEnvironment) {
        withContent { $0.refundDesk[environment] = rules }
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
            try content.refundDesk.open(transactionID, in: record.environment, reason: reason, now: now)
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
        for (transactionID, decision) in refundDesk.dueDecisions(now: now) {
            do throws(ControlError) {
                try decideRefund(of: transactionID, decision, now: now)
            } catch {
                // Refunded in another way meanwhile: there is nothing left to give back.
                refundDesk.close(transactionID, .decline)
            }
        }
        for request in refundDesk.takeRepeats(now: now) {
            guard let record = world.records[request.transactionID], !record.isRefunded else { continue }
            post(draft(.consumptionRequest, about: record, at: now, reason: request.reason), now: now)
        }
    }

    mutating func decideRefund(
        of transactionID: String, _ decision: RefundRequest.Decision, now: Int64
    ) throws(ControlError) {
        guard let request = refundDesk.undecided(transactionID) else {
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
        refundDesk.close(transactionID, decision)
    }
}
