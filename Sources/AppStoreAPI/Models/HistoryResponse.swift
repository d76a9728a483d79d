package import JSON

/// One page of Get Transaction History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/historyresponse
package struct HistoryResponse: Sendable, Hashable {
    /// Asks for what follows this page, now or later.
    package let revision: String?
    package let hasMore: Bool?
    package let bundleId: String?
    package let appAppleId: Int64?
    package let environment: Environment?
    /// Compact JWS whose payloads are ``TransactionPayload``s, 20 at most.
    package let signedTransactions: [String]?

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

    /// Reads a body; members that are not known are passed over.
    ///
    /// - Throws: ``JSONError`` if the body is not one JSON object.
    package init(parsing body: [UInt8]) throws(JSONError) {
        let members = try JSONScanner.members(of: body)
        self.init(
            revision: members["revision"]?.string, hasMore: members["hasMore"]?.bool,
            bundleId: members["bundleId"]?.string, appAppleId: members["appAppleId"]?.int64,
            environment: members["environment"]?.string.map(Environment.init(rawValue:)),
            signedTransactions: members["signedTransactions"]?.array?.compactMap(\.string))
    }

    /// The body.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 65_536)
        writer.object { writer in
            writer.memberIfPresent("revision", revision)
            writer.memberIfPresent("hasMore", hasMore)
            writer.memberIfPresent("bundleId", bundleId)
            writer.memberIfPresent("appAppleId", appAppleId)
            writer.memberIfPresent("environment", environment)
            writer.memberIfPresent("signedTransactions", signedTransactions)
        }
        return writer.bytes
    }
}
