import AppStoreAPI

/// What Apple knows of an auto-renewable subscription beside its periods, each of which is a transaction.
struct SimulatedSubscription: Sendable {
    /// How long Apple tries to charge a customer: 60 days, in milliseconds.
    static let billingRetryLength: Int64 = 60 * 86_400_000
    /// The shortest period of a subscription that renews by itself: a minute, in milliseconds.
    static let shortestPeriod: Int64 = 60_000

    /// What a period is of.
    struct Plan: Sendable {
        let productID: String
        /// In milliunits; nil keeps the price.
        let price: Int64?
    }

    /// The length of a period, in milliseconds; an extension does not change it.
    var periodLength: Int64
    /// Whether the customer wants it renewed.
    var willRenew = true
    /// What the next period will be of, if not the same.
    var nextPlan: Plan?
    /// Until when Apple tries to charge the customer, UNIX milliseconds; nil when it has no need to.
    var billingRetryEnd: Int64?
    /// Until when the customer keeps access meanwhile, UNIX milliseconds.
    var gracePeriodEnd: Int64?
    /// Why it expired, once that is settled.
    var expirationIntent: ExpirationIntent?
    var extensions: [GrantedExtension] = []

    // MARK: Set at the control port

    /// Whether it is renewed, or not, when its time has come.
    var renewsByItself = false
    /// Whether the next charge fails.
    var billingFails = false
    /// How long the customer keeps access after a charge has failed, in milliseconds.
    var gracePeriodLength: Int64 = 0

    init(periodLength: Int64) { self.periodLength = periodLength }

    /// The longest gap between periods that does not begin a new run, in milliseconds.
    static func longestGap(in environment: SimulatedEnvironment) -> Int64 {
        environment == .production ? 60 * 86_400_000 : 600_000
    }

    func isInBillingRetry(at now: Int64) -> Bool { billingRetryEnd.map { $0 > now } ?? false }

    func isInGracePeriod(at now: Int64) -> Bool {
        isInBillingRetry(at: now) && gracePeriodEnd.map { $0 > now } ?? false
    }

    /// Forgets that it failed or expired, since it goes on.
    mutating func goOn() {
        nextPlan = nil
        billingRetryEnd = nil
        gracePeriodEnd = nil
        expirationIntent = nil
    }
}

/// The periods of a subscription as one customer has them: the purchaser, or a member of the family.
struct SubscriptionRun: Sendable {
    /// The transaction of the period that begins last.
    var latestID: String
    /// When the present run began, without a gap since that Apple would take notice of; UNIX milliseconds.
    var start: Int64
}

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

extension SimulatedSubscription {
    /// Why it expired, also when nobody has said so and its time has simply passed.
    fileprivate var settledIntent: ExpirationIntent {
        if let expirationIntent { return expirationIntent }
        if billingRetryEnd != nil { return .billingError }
        return willRenew ? .other : .customerCancelled
    }
}

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
        guard settings.renewsByItself != true || subscription.periodLength >= SimulatedSubscription.shortestPeriod
        else {
            throw .conflict("periods of less than a minute are too short to renew by themselves")
        }
        subscription.renewsByItself = settings.renewsByItself ?? subscription.renewsByItself
        subscription.billingFails = settings.billingFails ?? subscription.billingFails
        subscription.gracePeriodLength = settings.gracePeriodLength ?? subscription.gracePeriodLength
        subscriptions[id] = subscription
        if let willRenew = settings.willRenew { try setRenewal(willRenew, of: transactionID, now: now) }
    }
}
