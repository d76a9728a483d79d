package import JSON

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
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<LastTransactionsItem>] = [
        .init("status", \.status),
        .init("originalTransactionId", \.originalTransactionId),
        .init("signedTransactionInfo", \.signedTransactionInfo),
        .init("signedRenewalInfo", \.signedRenewalInfo),
    ]
}
