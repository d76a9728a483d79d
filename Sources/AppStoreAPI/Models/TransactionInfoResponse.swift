package import JSON

/// The answer of Get Transaction Info.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse
package struct TransactionInfoResponse: Sendable, Hashable {
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package let signedTransactionInfo: String?

    package init(signedTransactionInfo: String?) { self.signedTransactionInfo = signedTransactionInfo }

    /// Reads a body; members that are not known are passed over.
    ///
    /// - Throws: ``JSONError`` if the body is not one JSON object.
    package init(parsing body: [UInt8]) throws(JSONError) {
        self.init(signedTransactionInfo: try JSONScanner.members(of: body)["signedTransactionInfo"]?.string)
    }

    /// The body.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.memberIfPresent("signedTransactionInfo", signedTransactionInfo) }
        return writer.bytes
    }
}
