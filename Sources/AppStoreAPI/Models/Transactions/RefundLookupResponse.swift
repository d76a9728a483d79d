package import JSON

/// The answer of Get Refund History V1.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundlookupresponse
package struct RefundLookupResponse: WireModel {
    /// Compact JWS whose payloads are ``TransactionPayload``s, 50 at most; empty without refunds.
    package var signedTransactions: [String]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RefundLookupResponse>] = [
        .init("signedTransactions", \.signedTransactions, isRequired: true)
    ]
}
