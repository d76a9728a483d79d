package import JSON

/// A realtime answer that offers a discount or a change through the Advanced Commerce API.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/advancedcommerceinfo
package struct AdvancedCommerceInfo: WireModel {
    /// The UUID of the message beside it.
    package var messageIdentifier: String?
    /// Base64 of a JSON object around a JWS.
    package var advancedCommerceData: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceInfo>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("advancedCommerceData", \.advancedCommerceData),
    ]
}
