package import JSON

/// How a migrated subscription is named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigratedescriptors
package struct AdvancedCommerceSubscriptionMigrateDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateDescriptors>] = [
        .init("description", \.description),
        .init("displayName", \.displayName),
    ]
}
