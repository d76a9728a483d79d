import AppStoreAPI

// What a customer changes about a subscription.

extension World {
    /// Replaces a subscription's current period by one of another product: an upgrade, or a cross-grade to a product with
    /// periods of the same length.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - plan: what the customer changes to.
    ///   - now: UNIX milliseconds; start of the new period.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func changePlan(
        _ transactionID: String, to plan: SimulatedSubscription.Plan, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try changeable(transactionID, now: now)
        guard latest.payload.productId != plan.productID else { throw .conflict("the product stays the same") }
        for sibling in siblings(of: latest) + shares(of: latest) {
            modify(sibling) { $0.isUpgraded = true }
        }
        subscriptions[id]?.willRenew = true
        let new = beginPeriod(after: latest, at: now, plan) { $0.transactionReason = .purchase }
        for transactionID in new { emit(.didChangeRenewalPref, .upgrade, about: transactionID, at: now) }
        return try record(new[0]).payload
    }

    /// Changes what the next period of a subscription will be of: a downgrade, or a cross-grade to a product with periods
    /// of another length.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - plan: what the customer changes to; nil takes such a change back.
    ///   - now: UNIX milliseconds.
    /// - Returns: The last transaction, which stays the same.
    /// - Throws: ``ControlError``
    mutating func changeNextPlan(
        _ transactionID: String, to plan: SimulatedSubscription.Plan?, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let (id, latest) = try changeable(transactionID, now: now)
        let present = subscriptions[id]?.nextPlan?.productID ?? latest.payload.productId
        guard (plan?.productID ?? latest.payload.productId) != present else {
            throw .conflict("the product stays the same")
        }
        let isBack = plan == nil || plan?.productID == latest.payload.productId
        subscriptions[id]?.nextPlan = isBack ? nil : plan
        if !isBack { subscriptions[id]?.willRenew = true }
        emit(.didChangeRenewalPref, isBack ? nil : .downgrade, about: runs[id]?.latestID, at: now)
        return latest.payload
    }

    /// Lets the customer turn the renewal of a subscription on or off; to set it to what it is does nothing.
    ///
    /// - Throws: ``ControlError``
    mutating func setRenewal(_ willRenew: Bool, of transactionID: String, now: Int64) throws(ControlError) {
        let (id, _) = try ownSubscription(transactionID)
        guard subscriptions[id]?.willRenew != willRenew else { return }
        subscriptions[id]?.willRenew = willRenew
        emit(
            .didChangeRenewalStatus, willRenew ? .autoRenewEnabled : .autoRenewDisabled,
            about: runs[id]?.latestID, at: now)
    }

    /// A subscription that gives access now.
    private func changeable(
        _ transactionID: String, now: Int64
    ) throws(ControlError) -> (id: String, latest: TransactionRecord) {
        let (id, latest) = try ownSubscription(transactionID)
        let status = status(ofLatest: latest, at: now)
        guard status == .active || status == .billingGracePeriod else {
            throw .conflict("the subscription is not active")
        }
        return (id, latest)
    }
}
