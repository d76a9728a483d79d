import AppStoreAPI

/// An extension of the renewal dates of all active subscribers, under way or finished.
struct MassExtension: Sendable {
    let app: AppInEnvironment
    /// A UUID in lower case.
    let requestIdentifier: String
    let productID: String
    let days: Int64
    /// ISO 3166-1 alpha-3; nil for all.
    let storefronts: [String]?
    /// The subscriptions that are still to be dealt with.
    var pending: ArraySlice<String>
    var succeededCount: Int64 = 0
    var failedCount: Int64 = 0
    /// When the next subscription is dealt with, UNIX milliseconds; nil when all are.
    var nextStepDate: Int64?
    /// UNIX milliseconds.
    var completeDate: Int64?

    /// What the notification at its end says.
    var summary: Summary {
        Summary {
            $0.productId = productID
            $0.requestIdentifier = requestIdentifier
            $0.storefrontCountryCodes = storefronts
            $0.succeededCount = succeededCount
            $0.failedCount = failedCount
        }
    }

    var response: MassExtendRenewalDateStatusResponse {
        MassExtendRenewalDateStatusResponse {
            $0.requestIdentifier = requestIdentifier
            $0.complete = completeDate != nil
            guard let completeDate else { return }
            $0.completeDate = completeDate
            $0.succeededCount = succeededCount
            $0.failedCount = failedCount
        }
    }
}
