/// The state of an auto-renewable subscription.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/status
package struct SubscriptionStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let active = SubscriptionStatus(rawValue: 1)
    package static let expired = SubscriptionStatus(rawValue: 2)
    /// The charge failed; Apple tries again while the customer has no access.
    package static let billingRetry = SubscriptionStatus(rawValue: 3)
    /// The charge failed; Apple tries again while the customer keeps access.
    package static let billingGracePeriod = SubscriptionStatus(rawValue: 4)
    /// Refunded, or no longer shared in the family.
    package static let revoked = SubscriptionStatus(rawValue: 5)

    package static let known = [active, expired, billingRetry, billingGracePeriod, revoked]
}
