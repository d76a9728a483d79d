package import JSON

/// A realtime answer that offers another subscription.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/alternateproduct
package struct AlternateProduct: WireModel {
    /// The UUID of the message beside it.
    package var messageIdentifier: String?
    /// The subscription to change to.
    package var productId: String?
    package var billingPlanType: BillingPlanType?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AlternateProduct>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("productId", \.productId),
        .init("billingPlanType", \.billingPlanType),
    ]
}
