package import JSON

/// One page of Get Transaction History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/historyresponse
package struct HistoryResponse: WireModel {
    /// Asks for what follows this page, now or later.
    package var revision: String?
    package var hasMore: Bool?
    package var bundleId: String?
    package var appAppleId: Int64?
    package var environment: Environment?
    /// Compact JWS whose payloads are ``TransactionPayload``s, 20 at most.
    package var signedTransactions: [String]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<HistoryResponse>] = [
        .init("revision", \.revision),
        .init("hasMore", \.hasMore),
        .init("bundleId", \.bundleId),
        .init("appAppleId", \.appAppleId),
        .init("environment", \.environment),
        .init("signedTransactions", \.signedTransactions),
    ]

    package init(
        revision: String?, hasMore: Bool?, bundleId: String?, appAppleId: Int64?, environment: Environment?,
        signedTransactions: [String]?
    ) {
        self.revision = revision
        self.hasMore = hasMore
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environment = environment
        self.signedTransactions = signedTransactions
    }
}
