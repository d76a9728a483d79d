package import JSON

/// The subject of most notifications: an app, a transaction and a subscription.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/data
package struct NotificationData: WireModel {
    package var environment: Environment?
    package var appAppleId: Int64?
    package var bundleId: String?
    /// The build of the app.
    package var bundleVersion: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// Of the subscription, when the notification was signed.
    package var status: SubscriptionStatus?
    /// With `CONSUMPTION_REQUEST`: what the customer gave as the reason.
    package var consumptionRequestReason: ConsumptionRequestReason?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationData>] = [
        .init("environment", \.environment),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("bundleVersion", \.bundleVersion),
        .init("signedTransactionInfo", \.signedTransactionInfo),
        .init("signedRenewalInfo", \.signedRenewalInfo),
        .init("status", \.status),
        .init("consumptionRequestReason", \.consumptionRequestReason),
    ]
}
