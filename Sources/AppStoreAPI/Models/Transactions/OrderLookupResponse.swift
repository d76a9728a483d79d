package import JSON

/// The answer of Look Up Order ID.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse
package struct OrderLookupResponse: WireModel {
    package var status: OrderLookupStatus?
    /// Compact JWS whose payloads are the ``TransactionPayload``s of the order; nil for an invalid one.
    package var signedTransactions: [String]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<OrderLookupResponse>] = [
        .init("status", \.status),
        .init("signedTransactions", \.signedTransactions),
    ]
}
