package import JSON

/// How a subscription will be named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifydescriptors
package struct AdvancedCommerceSubscriptionModifyDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyDescriptors>] = [
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("effective", \.effective, isRequired: true),
    ]
}
