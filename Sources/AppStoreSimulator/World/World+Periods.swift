import AppStoreAPI

// Periods of a subscription: how they begin and end.

extension World {
    /// Renews a subscription for another period, at the end of the last one unless a date is given.
    ///
    /// In billing retry this is a recovery: the period begins now, or when the last one ended while there is a grace period.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - purchaseDate: UNIX milliseconds.
    ///   - now: UNIX milliseconds.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func renew(
        _ transactionID: String, purchaseDate: Int64?, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try ownSubscription(transactionID)
        guard let subscription = subscriptions[id], let end = latest.payload.expiresDate else {
            throw .conflict("transaction \(transactionID) has no period to renew")
        }
        let isRecovery = subscription.isInBillingRetry(at: now)
        let hasLapsed = isRecovery && !subscription.isInGracePeriod(at: now)
        let new = beginPeriod(after: latest, at: purchaseDate ?? (hasLapsed ? now : end), subscription.nextPlan) {
            $0.transactionReason = .renewal
        }
        for transactionID in new { emit(.didRenew, isRecovery ? .billingRecovery : nil, about: transactionID, at: now) }
        subscriptions[id]?.billingFails = false
        return try record(new[0]).payload
    }

    /// Begins an expired subscription anew.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - plan: what the customer subscribes to this time; nil for the same.
    ///   - now: UNIX milliseconds; start of the new period.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func resubscribe(
        _ transactionID: String, to plan: SimulatedSubscription.Plan?, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try ownSubscription(transactionID)
        let status = status(ofLatest: latest, at: now)
        guard status == .expired || status == .revoked else { throw .conflict("the subscription goes on") }
        subscriptions[id]?.willRenew = true
        let new = beginPeriod(after: latest, at: now, plan) { $0.transactionReason = .purchase }
        for transactionID in new { emit(.subscribed, .resubscribe, about: transactionID, at: now) }
        return try record(new[0]).payload
    }

    /// Ends a subscription.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - intent: why.
    ///   - now: UNIX milliseconds; when the present period ends, unless it has ended already.
    /// - Returns: The last transaction as it is now.
    /// - Throws: ``ControlError``
    mutating func expire(
        _ transactionID: String, because intent: ExpirationIntent, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try ownSubscription(transactionID)
        guard latest.payload.revocationDate == nil, subscriptions[id]?.expirationIntent == nil else {
            throw .conflict("the subscription has ended already")
        }
        if intent == .customerCancelled { subscriptions[id]?.willRenew = false }
        subscriptions[id]?.expirationIntent = intent
        subscriptions[id]?.billingRetryEnd = nil
        subscriptions[id]?.gracePeriodEnd = nil
        for transactionID in endPeriod(latest, at: now) {
            emit(.expired, intent.subtype, about: transactionID, at: now)
        }
        return try record(runs[id]?.latestID ?? transactionID).payload
    }

    /// Lets the charge for the next period fail, whereupon Apple tries again for 60 days.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - gracePeriod: how long the customer keeps access, in milliseconds; 0 for not at all.
    ///   - now: UNIX milliseconds; when the present period ends, unless it has ended already.
    /// - Returns: The last transaction as it is now.
    /// - Throws: ``ControlError``
    mutating func failBilling(
        _ transactionID: String, gracePeriod: Int64, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try ownSubscription(transactionID)
        guard latest.payload.revocationDate == nil, subscriptions[id]?.expirationIntent == nil,
            subscriptions[id]?.billingRetryEnd == nil
        else { throw .conflict("the subscription has ended or failed already") }
        subscriptions[id]?.billingRetryEnd = now + SimulatedSubscription.billingRetryLength
        subscriptions[id]?.gracePeriodEnd = gracePeriod > 0 ? now + gracePeriod : nil
        for transactionID in endPeriod(latest, at: now) {
            emit(.didFailToRenew, gracePeriod > 0 ? .gracePeriod : nil, about: transactionID, at: now)
        }
        return try record(runs[id]?.latestID ?? transactionID).payload
    }

    /// Adds a period to a subscription and to those it is shared with.
    ///
    /// - Returns: The ids of the new transactions, the purchaser's first.
    mutating func beginPeriod(
        after latest: TransactionRecord, at start: Int64, _ plan: SimulatedSubscription.Plan?,
        _ change: (inout TransactionPayload) -> Void
    ) -> [String] {
        guard let id = subscriptionID(of: latest), let subscription = subscriptions[id] else { return [] }
        let sharing = shares(of: latest).compactMap { records[$0] }.filter { $0.payload.revocationDate == nil }
        var new: [String] = []
        for record in [latest] + sharing {
            let transactionID = identifiers.transaction(in: record.environment)
            var payload = record.payload.continued(
                as: transactionID, item: identifiers.lineItem(in: record.environment))
            payload.purchaseDate = start
            payload.expiresDate = start + subscription.periodLength
            payload.productId = plan?.productID ?? payload.productId
            payload.price = plan?.price ?? payload.price
            change(&payload)
            insert(payload, of: record.customer, in: record.environment, sharedFrom: new.first)
            new.append(transactionID)
        }
        // A period that was added to the past does not become the last one.
        if start >= latest.payload.purchaseDate ?? start { subscriptions[id]?.goOn() }
        return new
    }

    /// Lets a period end now if it has not ended, for those too who share it.
    ///
    /// - Returns: The transactions that those concerned hold, the purchaser's first.
    private mutating func endPeriod(_ latest: TransactionRecord, at now: Int64) -> [String] {
        let own = siblings(of: latest)
        let sharing = shares(of: latest).filter { records[$0]?.payload.revocationDate == nil }
        for id in own + sharing where records[id]?.payload.expiresDate ?? 0 > now {
            modify(id) { $0.expiresDate = now }
        }
        return [latest.payload.transactionId].compactMap { $0 } + sharing
    }
}

extension ExpirationIntent {
    /// What notifications of an expiry say about its reason.
    fileprivate var subtype: Subtype? {
        switch self {
        case .customerCancelled: .voluntary
        case .billingError: .billingRetry
        case .customerDidNotConsentToPriceIncrease: .priceIncrease
        case .productNotAvailable: .productNotForSale
        default: nil
        }
    }
}

extension TransactionPayload {
    /// The beginning of a subscription's next period: a transaction and line item of its own, without what belonged to the last one alone.
    fileprivate func continued(as transactionId: String, item: String) -> TransactionPayload {
        var payload = self
        payload.transactionId = transactionId
        payload.webOrderLineItemId = item
        payload.isUpgraded = nil
        payload.offerType = nil
        payload.offerIdentifier = nil
        payload.offerDiscountType = nil
        payload.offerPeriod = nil
        payload.clearRevocation()
        return payload
    }
}
