package import JSON

/// The answer of Extend a Subscription Renewal Date.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse
package struct ExtendRenewalDateResponse: WireModel {
    package var originalTransactionId: String?
    /// The purchase event that was extended.
    package var webOrderLineItemId: String?
    package var success: Bool?
    /// The new expiration date in UNIX milliseconds.
    package var effectiveDate: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExtendRenewalDateResponse>] = [
        .init("originalTransactionId", \.originalTransactionId),
        .init("webOrderLineItemId", \.webOrderLineItemId),
        .init("success", \.success),
        .init("effectiveDate", \.effectiveDate),
    ]
}
