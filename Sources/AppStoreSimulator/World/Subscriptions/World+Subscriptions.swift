import AppStoreAPI

extension World {
    /// Under which id a transaction's subscription is kept: the purchaser's original transaction id.
    func subscriptionID(of record: TransactionRecord) -> String? {
        guard record.payload.type == .autoRenewableSubscription else { return nil }
        let own = record.sharedFrom.flatMap { records[$0] } ?? record
        return own.payload.originalTransactionId
    }

    /// A subscription that an account bought itself, and its period that begins last.
    ///
    /// - Throws: ``ControlError``
    func ownSubscription(_ transactionID: String) throws(ControlError) -> (id: String, latest: TransactionRecord) {
        let record = try record(transactionID)
        guard record.payload.inAppOwnershipType == .purchased, let id = subscriptionID(of: record),
            let latest = latestPeriod(of: id)
        else { throw .conflict("it is not a subscription that the account bought itself") }
        return (id, latest)
    }

    /// The last period of each subscription of a customer, in the order in which the subscriptions were bought.
    func latestPeriods(of customer: Customer) -> [TransactionRecord] {
        var seen: Set<String> = []
        return (transactionIDs[customer] ?? []).compactMap { id in
            guard let original = records[id]?.payload.originalTransactionId, seen.insert(original).inserted else {
                return nil
            }
            return latestPeriod(of: original)
        }
    }

    /// The last period of a subscription, of which the original transaction id is given.
    func latestPeriod(of originalTransactionID: String) -> TransactionRecord? {
        runs[originalTransactionID].flatMap { records[$0.latestID] }
    }

    /// The last period of a transaction's subscription; nil if it is not of one.
    func latestPeriod(of record: TransactionRecord) -> TransactionRecord? {
        record.payload.originalTransactionId.flatMap { latestPeriod(of: $0) }
    }

    /// The state of a subscription, of which the last period is given.
    func status(ofLatest latest: TransactionRecord, at now: Int64) -> SubscriptionStatus {
        guard latest.payload.revocationDate == nil else { return .revoked }
        guard latest.payload.expiresDate ?? 0 <= now else { return .active }
        guard let subscription = subscriptionID(of: latest).flatMap({ subscriptions[$0] }),
            subscription.isInBillingRetry(at: now)
        else { return .expired }
        return subscription.isInGracePeriod(at: now) ? .billingGracePeriod : .billingRetry
    }

    /// The state of a transaction's subscription; nil if it is not of one.
    func status(of record: TransactionRecord, at now: Int64) -> SubscriptionStatus? {
        latestPeriod(of: record).map { status(ofLatest: $0, at: now) }
    }

    /// What becomes of a transaction's subscription, without a signing date; nil if it is not of one.
    func renewalInfo(of record: TransactionRecord, at now: Int64) -> RenewalInfoPayload? {
        guard let latest = latestPeriod(of: record), let id = subscriptionID(of: latest),
            let subscription = subscriptions[id]
        else { return nil }
        let payload = latest.payload
        let status = status(ofLatest: latest, at: now)
        return RenewalInfoPayload {
            $0.originalTransactionId = payload.originalTransactionId
            $0.autoRenewProductId = subscription.nextPlan?.productID ?? payload.productId
            $0.productId = payload.productId
            $0.autoRenewStatus = subscription.willRenew ? .on : .off
            $0.environment = payload.environment
            $0.recentSubscriptionStartDate = payload.originalTransactionId.flatMap { runs[$0]?.start }
            $0.renewalDate = payload.expiresDate
            $0.currency = payload.currency
            $0.renewalPrice = subscription.nextPlan?.price ?? payload.price
            $0.appAccountToken = payload.appAccountToken
            $0.appTransactionId = payload.appTransactionId
            if status == .billingRetry || status == .billingGracePeriod {
                $0.isInBillingRetryPeriod = true
                $0.expirationIntent = .billingError
                $0.gracePeriodExpiresDate = subscription.gracePeriodEnd
            } else if status == .expired {
                $0.isInBillingRetryPeriod = false
                $0.expirationIntent = subscription.settledIntent
            }
        }
    }
}

extension Subscription {
    /// Why it expired, also when nobody has said so and its time has simply passed.
    fileprivate var settledIntent: ExpirationIntent {
        if let expirationIntent { return expirationIntent }
        if billingRetryEnd != nil { return .billingError }
        return willRenew ? .other : .customerCancelled
    }
}
