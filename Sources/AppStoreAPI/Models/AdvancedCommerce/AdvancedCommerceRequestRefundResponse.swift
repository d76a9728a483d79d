package import JSON

/// The answer of Request Refund.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefundresponse
package struct AdvancedCommerceRequestRefundResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}
