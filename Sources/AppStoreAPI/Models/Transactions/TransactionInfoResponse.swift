package import JSON

/// The answer of Get Transaction Info.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse
package struct TransactionInfoResponse: WireModel {
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<TransactionInfoResponse>] = [
        .init("signedTransactionInfo", \.signedTransactionInfo)
    ]

    package init(signedTransactionInfo: String?) { self.signedTransactionInfo = signedTransactionInfo }
}
