/// The rates that Apple publishes: how often an app may make a call of its server APIs.
///
/// Apple states them by the second and counts calls by the hour, for each app, call
/// and environment; beyond that a call is answered with error 4290000 and a `Retry-After` header.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
package enum PublishedRateLimits {
    /// How many calls a second an app may make in production; nil where Apple publishes no rate.
    package static func requestsPerSecond(_ operation: Endpoint.Operation) -> Int? {
        switch operation {
        case .getTransactionHistory, .getTransactionHistoryV1, .getTransactionInfo, .getAppTransactionInfo,
            .getAllSubscriptionStatuses, .sendConsumptionInformation, .sendConsumptionInformationV1,
            .getNotificationHistory:
            50
        case .setAppAccountToken, .extendSubscriptionRenewalDate: 20
        case .lookUpOrderID, .getRefundHistory, .getRefundHistoryV1, .configureDefaultMessage: 10
        case .extendSubscriptionRenewalDatesForAllActiveSubscribers, .requestTestNotification,
            .getTestNotificationStatus, .deleteImage, .deleteDefaultMessage, .configureRealtimeURL:
            1
        default: nil
        }
    }

    /// How much of a rate holds in the sandbox, in percent.
    package static let sandboxPercent = 10

    /// The time over which Apple counts calls, in seconds.
    package static let windowSeconds = 3600

    /// How many calls an app may make in an hour; nil where Apple publishes no rate.
    package static func callsPerHour(_ operation: Endpoint.Operation, inSandbox: Bool) -> Int? {
        requestsPerSecond(operation).map { $0 * windowSeconds * (inSandbox ? sandboxPercent : 100) / 100 }
    }
}

extension Endpoint.Operation {
    /// Calls per second that Apple allows an app in production; nil where Apple publishes no rate.
    package var requestsPerSecond: Int? { PublishedRateLimits.requestsPerSecond(self) }
}
