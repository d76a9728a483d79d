package import JSON

/// What every Advanced Commerce request says of itself.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestinfo
package struct AdvancedCommerceRequestInfo: WireModel {
    /// A UUID for the transaction.
    package var appAccountToken: String?
    /// From the renewal information of the subscription, as it stands there.
    package var consistencyToken: String?
    /// A UUID; the same one again only when the outcome of a call is unknown.
    package var requestReferenceId: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestInfo>] = [
        .init("appAccountToken", \.appAccountToken),
        .init("consistencyToken", \.consistencyToken),
        .init("requestReferenceId", \.requestReferenceId, isRequired: true),
    ]
}
