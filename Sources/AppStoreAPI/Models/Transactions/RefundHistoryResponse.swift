package import JSON

/// One page of Get Refund History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse
package struct RefundHistoryResponse: WireModel {
    /// Compact JWS whose payloads are ``TransactionPayload``s, 20 at most, by rising `revocationDate`.
    package var signedTransactions: [String]?
    /// Asks for what follows this page, now or later.
    package var revision: String?
    package var hasMore: Bool?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RefundHistoryResponse>] = [
        .init("signedTransactions", \.signedTransactions),
        .init("revision", \.revision),
        .init("hasMore", \.hasMore),
    ]

    package init(signedTransactions: [String]?, revision: String?, hasMore: Bool?) {
        self.signedTransactions = signedTransactions
        self.revision = revision
        self.hasMore = hasMore
    }
}
