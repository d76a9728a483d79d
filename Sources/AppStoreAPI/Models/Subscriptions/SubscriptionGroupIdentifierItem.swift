package import JSON

/// What a customer has in one subscription group.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/subscriptiongroupidentifieritem
package struct SubscriptionGroupIdentifierItem: WireModel {
    package var subscriptionGroupIdentifier: String?
    /// The latest of each subscription in the group, by original transaction.
    package var lastTransactions: [LastTransactionsItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SubscriptionGroupIdentifierItem>] = [
        .init("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
        .init("lastTransactions", \.lastTransactions),
    ]
}
