package import JSON

/// What the next renewal of a subscription sold through the Advanced Commerce API will be of.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerenewalinfo
package struct AdvancedCommerceRenewalInfo: WireModel {
    /// To be copied into the next request, never made up.
    package var consistencyToken: String?
    package var descriptors: AdvancedCommerceDescriptors?
    package var items: [AdvancedCommerceRenewalItem]?
    package var period: AdvancedCommercePeriod?
    /// The one of the request that changed the subscription last.
    package var requestReferenceId: String?
    package var taxCode: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRenewalInfo>] = [
        .init("consistencyToken", \.consistencyToken),
        .init("descriptors", \.descriptors),
        .init("items", \.items),
        .init("period", \.period),
        .init("requestReferenceId", \.requestReferenceId),
        .init("taxCode", \.taxCode),
    ]
}
