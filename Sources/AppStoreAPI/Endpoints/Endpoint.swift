/// One call of the App Store Server API with its parameters, but without host, token and body.
package struct Endpoint: Sendable, Hashable {
    package let operation: Operation
    /// The path's last segment, as it is, not encoded.
    package let identifier: String
    /// The query's parameters in the order in which they are sent; a name can occur several times.
    package let query: [QueryParameter]

    private init(_ operation: Operation, _ identifier: String, query: [QueryParameter] = []) {
        self.operation = operation
        self.identifier = identifier
        self.query = query
    }

    /// Get Transaction Info, by transaction id or original transaction id.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info
    package static func getTransactionInfo(transactionId: String) -> Endpoint {
        Endpoint(.getTransactionInfo, transactionId)
    }

    /// One page of Get Transaction History, version 2.
    ///
    /// Any transaction id, original transaction id or app transaction id of the customer will do.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
    package static func getTransactionHistory(transactionId: String, query: HistoryQuery = HistoryQuery()) -> Endpoint {
        Endpoint(.getTransactionHistory, transactionId, query: query.parameters)
    }

    /// One page of Get Refund History, version 2: the first, or the one that follows a revision.
    ///
    /// Any transaction id, original transaction id or app transaction id of the customer will do.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history
    package static func getRefundHistory(transactionId: String, revision: String? = nil) -> Endpoint {
        Endpoint(
            .getRefundHistory, transactionId, query: revision.map { [QueryParameter("revision", $0)] } ?? [])
    }

    /// Send Consumption Information; its body is a ``ConsumptionRequest``.
    ///
    /// The id is the transaction id of the notification that asked for it.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
    package static func sendConsumptionInformation(transactionId: String) -> Endpoint {
        Endpoint(.sendConsumptionInformation, transactionId)
    }

    /// Send Consumption Information V1; its body is a ``ConsumptionRequestV1``.
    ///
    /// The id is the transaction id of the notification that asked for it.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information-v1
    package static func sendConsumptionInformationV1(transactionId: String) -> Endpoint {
        Endpoint(.sendConsumptionInformationV1, transactionId)
    }

    /// The title of Apple's page for the call.
    package var name: String { operation.name }

    /// The HTTP method.
    package var method: String { operation.method }

    /// The path, percent-encoded.
    package var path: String { operation.pathPrefix + PercentEncoding.encode(pathSegment: identifier) }

    /// What follows the host in the URL: path and query, percent-encoded.
    package var pathAndQuery: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map(\.encoded).joined(separator: "&")
    }
}
