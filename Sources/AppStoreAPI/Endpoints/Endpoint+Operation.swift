extension Endpoint {
    /// The calls of the App Store Server API that we know.
    package enum Operation: Sendable, Hashable, CaseIterable {
        case getTransactionInfo
        case getTransactionHistory
        case getRefundHistory
        case sendConsumptionInformation
        case sendConsumptionInformationV1

        /// The title of Apple's page for the call.
        package var name: String {
            switch self {
            case .getTransactionInfo: "Get Transaction Info"
            case .getTransactionHistory: "Get Transaction History"
            case .getRefundHistory: "Get Refund History"
            case .sendConsumptionInformation: "Send Consumption Information"
            case .sendConsumptionInformationV1: "Send Consumption Information V1"
            }
        }

        /// The HTTP method.
        package var method: String {
            switch self {
            case .getTransactionInfo, .getTransactionHistory, .getRefundHistory: "GET"
            case .sendConsumptionInformation, .sendConsumptionInformationV1: "PUT"
            }
        }

        /// The path up to the identifier, which is its last segment; paths are case-sensitive.
        package var pathPrefix: String {
            switch self {
            case .getTransactionInfo: "/inApps/v1/transactions/"
            case .getTransactionHistory: "/inApps/v2/history/"
            case .getRefundHistory: "/inApps/v2/refund/lookup/"
            case .sendConsumptionInformation: "/inApps/v2/transactions/consumption/"
            case .sendConsumptionInformationV1: "/inApps/v1/transactions/consumption/"
            }
        }

        /// Calls per second that Apple allows an app in production, counted by the hour; a tenth of it in the sandbox.
        ///
        /// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
        package var requestsPerSecond: Int {
            switch self {
            case .getTransactionInfo, .getTransactionHistory, .sendConsumptionInformation,
                .sendConsumptionInformationV1:
                50
            case .getRefundHistory: 10
            }
        }
    }
}
