// The answer of Get All Subscription Statuses and what it is made of.

package import JSON

/// The answer of Get All Subscription Statuses.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/statusresponse
package struct StatusResponse: WireModel {
    package var environment: Environment?
    package var bundleId: String?
    package var appAppleId: Int64?
    /// One for each subscription group in which the customer has or had a subscription.
    package var data: [SubscriptionGroupIdentifierItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<StatusResponse>] = [
        .init("environment", \.environment),
        .init("bundleId", \.bundleId),
        .init("appAppleId", \.appAppleId),
        .init("data", \.data),
    ]
}

/// What a customer has in one subscription group.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/subscriptiongroupidentifieritem
package struct SubscriptionGroupIdentifierItem: WireModel {
    package var subscriptionGroupIdentifier: String?
    /// The latest of each subscription in the group, by original transaction.
    package var lastTransactions: [LastTransactionsItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SubscriptionGroupIdentifierItem>] = [
        .init("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
        .init("lastTransactions", \.lastTransactions),
    ]
}

/// The state of one subscription with the latest that the App Store signed of it.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem
package struct LastTransactionsItem: WireModel {
    package var status: SubscriptionStatus?
    package var originalTransactionId: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<LastTransactionsItem>] = [
        .init("status", \.status),
        .init("originalTransactionId", \.originalTransactionId),
        .init("signedTransactionInfo", \.signedTransactionInfo),
        .init("signedRenewalInfo", \.signedRenewalInfo),
    ]
}

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
