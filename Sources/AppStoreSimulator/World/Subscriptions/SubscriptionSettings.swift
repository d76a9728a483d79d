/// What can be set about a subscription; nil leaves it as it is.
package struct SubscriptionSettings: Sendable {
    /// Whether the customer wants it renewed.
    package var willRenew: Bool?
    /// Whether it is renewed, fails or expires by itself when its time has come.
    package var renewsByItself: Bool?
    /// Whether the next charge fails.
    package var billingFails: Bool?
    /// How long the customer keeps access after that, in milliseconds.
    package var gracePeriodLength: Int64?

    package init(
        willRenew: Bool? = nil, renewsByItself: Bool? = nil, billingFails: Bool? = nil, gracePeriodLength: Int64? = nil
    ) {
        self.willRenew = willRenew
        self.renewsByItself = renewsByItself
        self.billingFails = billingFails
        self.gracePeriodLength = gracePeriodLength
    }
}

extension World {
    /// Sets what is given.
    ///
    /// - Throws: ``ControlError``
    mutating func set(
        _ settings: SubscriptionSettings, of transactionID: String, now: Int64
    ) throws(ControlError) {
        let (id, _) = try ownSubscription(transactionID)
        guard var subscription = subscriptions[id] else { return }
        guard settings.renewsByItself != true || subscription.periodLength >= Subscription.shortestPeriod else {
            throw .conflict("periods of less than a minute are too short to renew by themselves")
        }
        subscription.renewsByItself = settings.renewsByItself ?? subscription.renewsByItself
        subscription.billingFails = settings.billingFails ?? subscription.billingFails
        subscription.gracePeriodLength = settings.gracePeriodLength ?? subscription.gracePeriodLength
        subscriptions[id] = subscription
        if let willRenew = settings.willRenew { try setRenewal(willRenew, of: transactionID, now: now) }
    }
}
