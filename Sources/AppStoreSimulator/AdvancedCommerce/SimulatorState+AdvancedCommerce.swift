import AppStoreAPI

// What Advanced Commerce requests do, once their bodies are known to be sound. Each gives the transaction as it is afterwards.

extension SimulatorState.Content {
    /// Where an Advanced Commerce request applies, and when.
    struct AdvancedCommerceCall: Sendable {
        let operation: Endpoint.Operation
        let transactionID: String
        let app: AppInEnvironment
        /// UNIX milliseconds.
        let now: Int64

        var subject: AdvancedCommerceLedger.Subject {
            AdvancedCommerceLedger.Subject(operation: operation, transactionID: transactionID)
        }
    }

    /// Refunds items of a transaction, at once.
    mutating func requestRefund(
        _ request: AdvancedCommerceRequestRefundRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try purchase(call)
        if try isRepetition(request.requestInfo, call) { return record }
        let items = request.items ?? []
        let known = record.payload.advancedCommerceInfo?.items ?? []
        for item in items where !known.contains(where: { $0.sku == item.sku && $0.revocationDate == nil }) {
            throw AdvancedCommerceRules.refusal("there is no unrefunded item \(item.sku ?? "")")
        }
        guard record.payload.revocationDate == nil else { throw AdvancedCommerceRules.refusal("it is refunded") }
        note(request.requestInfo, call)
        if items.contains(where: { $0.refundReason == .simulateRefundDecline }) {
            post(draft(.refundDeclined, about: record, at: call.now), now: call.now)
            return record
        }
        world.modify(call.transactionID) { payload in
            for item in items { payload.advancedCommerceInfo?.refund(item, now: call.now) }
        }
        let isWhole = known.allSatisfy { item in
            item.revocationDate != nil || items.contains { $0.sku == item.sku && $0.revoke == true }
        }
        if isWhole {
            try refund(call, percentage: Refund.whole)
        } else {
            post(draft(.refund, about: try found(call), at: call.now), now: call.now)
        }
        return try found(call)
    }

    /// Turns the renewal of a subscription off.
    mutating func cancel(
        _ request: AdvancedCommerceSubscriptionCancelRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try subscription(call)
        if try isRepetition(request.requestInfo, call) { return record }
        note(request.requestInfo, call)
        try turnRenewalOff(call)
        return try found(call)
    }

    /// Ends a subscription and gives its price back, or what is left of its period.
    mutating func revoke(
        _ request: AdvancedCommerceSubscriptionRevokeRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try subscription(call)
        if try isRepetition(request.requestInfo, call) { return record }
        guard record.payload.revocationDate == nil else { throw AdvancedCommerceRules.refusal("it is refunded") }
        note(request.requestInfo, call)
        guard request.refundReason != .simulateRefundDecline else {
            post(draft(.refundDeclined, about: record, at: call.now), now: call.now)
            return record
        }
        try turnRenewalOff(call)
        try refund(
            call, percentage: request.refundType == .prorated ? record.payload.share(leftAt: call.now) : Refund.whole)
        return try found(call)
    }

    /// Changes how a subscription and its items are described, at once or from the next period on.
    mutating func changeMetadata(
        _ request: AdvancedCommerceSubscriptionChangeMetadataRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try subscription(call)
        if try isRepetition(request.requestInfo, call) { return record }
        var renewal = renewal(of: record)
        for item in request.items ?? [] where !(renewal.items ?? []).contains(where: { $0.sku == item.currentSKU }) {
            throw AdvancedCommerceRules.refusal("there is no item \(item.currentSKU ?? "")")
        }
        note(request.requestInfo, call)
        renewal.change(request)
        keep(renewal, request.requestInfo, record)
        world.modify(call.transactionID) { $0.advancedCommerceInfo?.change(request) }
        let changed = try found(call)
        post(draft(.metadataUpdate, about: changed, at: call.now), now: call.now)
        return changed
    }

    /// Changes the prices of a subscription's items from the next period on; a rise waits for the customer's consent.
    mutating func changePrice(
        _ request: AdvancedCommerceSubscriptionPriceChangeRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try subscription(call)
        if try isRepetition(request.requestInfo, call) { return record }
        var renewal = renewal(of: record)
        for item in request.items ?? [] where !(renewal.items ?? []).contains(where: { $0.sku == item.sku }) {
            throw AdvancedCommerceRules.refusal("there is no item \(item.sku ?? "")")
        }
        note(request.requestInfo, call)
        renewal.change(request)
        keep(renewal, request.requestInfo, record)
        post(draft(.priceChange, about: record, at: call.now), now: call.now)
        return record
    }

    /// Makes a subscription of another kind an Advanced Commerce one, from the next period on.
    mutating func migrate(
        _ request: AdvancedCommerceSubscriptionMigrateRequest, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> TransactionRecord {
        let record = try found(call)
        if try isRepetition(request.requestInfo, call) { return record }
        guard record.payload.type == .autoRenewableSubscription, record.payload.advancedCommerceInfo == nil else {
            throw AdvancedCommerceRules.refusal("it is not a subscription that can be migrated")
        }
        note(request.requestInfo, call)
        let items = (request.items ?? []).map { ($0.sku, $0.description, $0.displayName) }
        let renewed = request.renewalItems.map { $0.map { ($0.sku, $0.description, $0.displayName) } } ?? items
        let renewal = AdvancedCommerceRenewalInfo { info in
            info.taxCode = request.taxCode
            info.descriptors = AdvancedCommerceDescriptors {
                $0.description = request.descriptors?.description
                $0.displayName = request.descriptors?.displayName
            }
            info.items = renewed.map { sku, description, displayName in
                AdvancedCommerceRenewalItem {
                    $0.sku = sku
                    $0.description = description
                    $0.displayName = displayName
                    $0.price = record.payload.price
                }
            }
        }
        keep(renewal, request.requestInfo, record)
        post(draft(.migration, about: record, at: call.now), now: call.now)
        return record
    }

    // MARK: Parts

    private func found(_ call: AdvancedCommerceCall) throws(AppleServiceError) -> TransactionRecord {
        try world.transaction(call.transactionID, bundleID: call.app.bundleID, environment: call.app.environment)
    }

    private func purchase(_ call: AdvancedCommerceCall) throws(AppleServiceError) -> TransactionRecord {
        let record = try found(call)
        guard record.payload.advancedCommerceInfo != nil else {
            throw AdvancedCommerceRules.refusal("it is not an Advanced Commerce transaction")
        }
        guard record.payload.inAppOwnershipType == .purchased else { throw .error(.familyTransactionNotSupported) }
        return record
    }

    private func subscription(_ call: AdvancedCommerceCall) throws(AppleServiceError) -> TransactionRecord {
        let record = try purchase(call)
        guard record.payload.type == .autoRenewableSubscription else {
            throw AdvancedCommerceRules.refusal("it is not a subscription")
        }
        return record
    }

    /// Whether a request was carried out before; a repetition changes nothing.
    private func isRepetition(
        _ info: AdvancedCommerceRequestInfo?, _ call: AdvancedCommerceCall
    ) throws(AppleServiceError) -> Bool {
        guard let known = advancedCommerce.subject(of: info?.requestReferenceId ?? "", from: call.app) else {
            return false
        }
        guard known == call.subject else {
            throw AdvancedCommerceRules.refusal("requestReferenceId was used for another request")
        }
        return true
    }

    private mutating func note(_ info: AdvancedCommerceRequestInfo?, _ call: AdvancedCommerceCall) {
        advancedCommerce.note(info?.requestReferenceId ?? "", from: call.app, about: call.subject)
    }

    private mutating func refund(_ call: AdvancedCommerceCall, percentage: Int32) throws(AppleServiceError) {
        do throws(ControlError) {
            _ = try world.refund(call.transactionID, Refund(percentage: percentage), now: call.now)
        } catch {
            throw AdvancedCommerceRules.refusal(error.description)
        }
        postEvents()
    }

    private mutating func turnRenewalOff(_ call: AdvancedCommerceCall) throws(AppleServiceError) {
        do throws(ControlError) {
            try world.setRenewal(false, of: call.transactionID, now: call.now)
        } catch {
            throw AdvancedCommerceRules.refusal(error.description)
        }
        postEvents()
    }

    /// What is renewed: as settled by the last request, or as it was bought.
    private func renewal(of record: TransactionRecord) -> AdvancedCommerceRenewalInfo {
        let id = record.payload.originalTransactionId ?? ""
        return advancedCommerce.renewals[id] ?? AdvancedCommerceRenewalInfo(record.payload.advancedCommerceInfo)
    }

    private mutating func keep(
        _ renewal: AdvancedCommerceRenewalInfo, _ info: AdvancedCommerceRequestInfo?, _ record: TransactionRecord
    ) {
        var renewal = renewal
        renewal.requestReferenceId = info?.requestReferenceId
        renewal.consistencyToken = outbox.uuid()
        advancedCommerce.renewals[record.payload.originalTransactionId ?? ""] = renewal
    }
}

extension TransactionPayload {
    /// How much of the period is left, in milliunits; at least one.
    fileprivate func share(leftAt now: Int64) -> Int32 {
        guard let start = purchaseDate, let end = expiresDate, end > start else { return Refund.whole }
        let left = min(max(end - now, 0), end - start)
        return max(1, Int32(left * Int64(Refund.whole) / (end - start)))
    }
}
