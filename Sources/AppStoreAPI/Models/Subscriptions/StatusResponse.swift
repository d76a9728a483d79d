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
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<StatusResponse>] = [
        .init("environment", \.environment),
        .init("bundleId", \.bundleId),
        .init("appAppleId", \.appAppleId),
        .init("data", \.data),
    ]
}
