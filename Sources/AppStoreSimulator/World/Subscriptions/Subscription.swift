import AppStoreAPI

/// What Apple knows of an auto-renewable subscription beside its periods, each of which is a transaction.
struct Subscription: Sendable {
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
    var extensions: [RenewalExtension] = []

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
