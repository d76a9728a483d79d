// The bodies of the calls for transactions: one transaction, histories, refunds, orders, and the app account token.

package import JSON

/// The answer of Get Transaction Info.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse
package struct TransactionInfoResponse: WireModel {
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<TransactionInfoResponse>] = [
        .init("signedTransactionInfo", \.signedTransactionInfo)
    ]

    package init(signedTransactionInfo: String?) { self.signedTransactionInfo = signedTransactionInfo }
}

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
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// One page of Get Refund History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse
package struct RefundHistoryResponse: WireModel {
    /// Compact JWS whose payloads are ``TransactionPayload``s, 20 at most, by rising `revocationDate`.
    package var signedTransactions: [String]?
    /// Asks for what follows this page, now or later.
    package var revision: String?
    package var hasMore: Bool?
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// The answer of Get Refund History V1.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundlookupresponse
package struct RefundLookupResponse: WireModel {
    /// Compact JWS whose payloads are ``TransactionPayload``s, 50 at most; empty without refunds.
    package var signedTransactions: [String]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RefundLookupResponse>] = [
        .init("signedTransactions", \.signedTransactions, isRequired: true)
    ]
}

/// The answer of Look Up Order ID.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse
package struct OrderLookupResponse: WireModel {
    package var status: OrderLookupStatus?
    /// Compact JWS whose payloads are the ``TransactionPayload``s of the order; nil for an invalid one.
    package var signedTransactions: [String]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<OrderLookupResponse>] = [
        .init("status", \.status),
        .init("signedTransactions", \.signedTransactions),
    ]
}

/// Whether an order ID is one of the app's.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/orderlookupstatus
package struct OrderLookupStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let valid = OrderLookupStatus(rawValue: 0)
    package static let invalid = OrderLookupStatus(rawValue: 1)

    package static let known = [valid, invalid]
}

/// The body of Set App Account Token.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/updateappaccounttokenrequest
package struct UpdateAppAccountTokenRequest: WireModel {
    /// A UUID, which replaces the one there was.
    package var appAccountToken: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UpdateAppAccountTokenRequest>] = [
        .init("appAccountToken", \.appAccountToken, isRequired: true)
    ]
}
