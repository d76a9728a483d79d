package import JSON

/// One page of Get Refund History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse
package struct RefundHistoryResponse: Sendable, Hashable {
    /// Compact JWS whose payloads are ``TransactionPayload``s, 20 at most, by rising `revocationDate`.
    package let signedTransactions: [String]?
    /// Asks for what follows this page, now or later.
    package let revision: String?
    package let hasMore: Bool?

    package init(signedTransactions: [String]?, revision: String?, hasMore: Bool?) {
        self.signedTransactions = signedTransactions
        self.revision = revision
        self.hasMore = hasMore
    }

    /// Reads a body; members that are not known are passed over.
    ///
    /// - Throws: ``JSONError`` if the body is not one JSON object.
    package init(parsing body: [UInt8]) throws(JSONError) {
        let members = try JSONScanner.members(of: body)
        self.init(
            signedTransactions: members["signedTransactions"]?.array?.compactMap(\.string),
            revision: members["revision"]?.string, hasMore: members["hasMore"]?.bool)
    }

    /// The body.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 65_536)
        writer.object { writer in
            writer.memberIfPresent("signedTransactions", signedTransactions)
            writer.memberIfPresent("revision", revision)
            writer.memberIfPresent("hasMore", hasMore)
        }
        return writer.bytes
    }
}
