package import JSON

/// How a subscription is named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/descriptors
package struct AdvancedCommerceDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceDescriptors>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
    ]
}
