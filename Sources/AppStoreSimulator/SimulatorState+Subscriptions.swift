package import AppStoreAPI

extension SimulatorState {
    /// Renews a subscription, from the end of its last period unless a purchase date (UNIX milliseconds) is given; in
    /// billing retry this is a recovery.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func renew(
        _ transactionID: String, purchaseDate: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            try world.renew(transactionID, purchaseDate: purchaseDate, now: now)
        }
    }

    /// Replaces a subscription's current period by one of another product; the price is in milliunits, nil keeps it.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func upgrade(
        _ transactionID: String, to productID: String, price: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            try world.changePlan(
                transactionID, to: SimulatedSubscription.Plan(productID: productID, price: price), now: now)
        }
    }

    /// Changes what a subscription's next period will be of; nil takes such a change back.
    ///
    /// - Returns: The present transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func downgrade(
        _ transactionID: String, to productID: String?, price: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            let plan = productID.map { SimulatedSubscription.Plan(productID: $0, price: price) }
            return try world.changeNextPlan(transactionID, to: plan, now: now)
        }
    }

    /// Begins an expired subscription anew, to the same product unless another is given.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func resubscribe(
        _ transactionID: String, to productID: String? = nil, price: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            let plan = productID.map { SimulatedSubscription.Plan(productID: $0, price: price) }
            return try world.resubscribe(transactionID, to: plan, now: now)
        }
    }

    /// Ends a subscription now, unless its last period has ended already.
    ///
    /// - Returns: The last transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func expire(
        _ transactionID: String, because intent: ExpirationIntent = .customerCancelled
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            try world.expire(transactionID, because: intent, now: now)
        }
    }

    /// Lets the charge for a subscription's next period fail now; the grace period is in milliseconds, 0 for none.
    ///
    /// - Returns: The last transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func failBilling(
        _ transactionID: String, gracePeriod: Int64 = 0
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in
            try world.failBilling(transactionID, gracePeriod: gracePeriod, now: now)
        }
    }

    /// Sets whether the customer wants a subscription renewed, and what happens when its time has come.
    ///
    /// - Throws: ``ControlError``
    package func set(_ settings: SubscriptionSettings, of transactionID: String) throws(ControlError) {
        try change { world, now throws(ControlError) in try world.set(settings, of: transactionID, now: now) }
    }

    /// The state of a transaction's subscription.
    ///
    /// - Throws: ``ControlError``
    package func subscriptionStatus(of transactionID: String) throws(ControlError) -> SubscriptionStatus {
        passTime()
        let now = milliseconds
        return try withContent { content throws(ControlError) in
            guard let status = content.world.status(of: try content.world.record(transactionID), at: now) else {
                throw .conflict("it is not a subscription")
            }
            return status
        }
    }

    /// How long a mass extension takes for each subscription, in milliseconds of simulated time.
    package var massExtensionPace: Int64 {
        get { withContent { $0.world.massExtensionPace } }
        set { withContent { $0.world.massExtensionPace = max(0, newValue) } }
    }
}
