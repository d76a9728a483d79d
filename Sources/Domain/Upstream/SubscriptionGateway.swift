/// The calls about subscriptions and the extension of their renewal dates.
///
/// Methods throw what those of `TransactionGateway` throw.
package protocol SubscriptionGateway: Sendable {
    /// Get All Subscription Statuses: of the Apple Account that an identifier belongs to.
    ///
    /// - Parameters:
    ///   - identifier: a transaction id, original transaction id or app transaction id.
    ///   - statuses: those to report; empty for all.
    ///   - call: for whom and until when.
    /// - Returns: the statuses by subscription group.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses
    func subscriptionStatuses(
        _ identifier: String, statuses: [SubscriptionStatus], _ call: UpstreamCall
    ) async throws(ServiceError) -> SubscriptionStatuses

    /// Extend a Subscription Renewal Date.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
    func extendRenewalDate(
        _ extension: RenewalExtension, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> RenewalExtensionOutcome

    /// Extend Subscription Renewal Dates for All Active Subscribers; the call's environment must be given.
    ///
    /// - Returns: Apple's request identifier.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
    func extendRenewalDates(
        _ extension: MassRenewalExtension, _ call: UpstreamCall
    ) async throws(ServiceError) -> String

    /// Get Status of Subscription Renewal Date Extensions; the call's environment must be given.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-status-of-subscription-renewal-date-extensions
    func massExtensionStatus(
        productID: String, requestIdentifier: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> MassRenewalExtensionStatus
}

/// Apple's status of a subscription; values that Apple adds later keep their number.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/status
package struct SubscriptionStatus: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let active = SubscriptionStatus(rawValue: 1)
    package static let expired = SubscriptionStatus(rawValue: 2)
    package static let billingRetry = SubscriptionStatus(rawValue: 3)
    package static let billingGracePeriod = SubscriptionStatus(rawValue: 4)
    package static let revoked = SubscriptionStatus(rawValue: 5)
}

/// The subscriptions of one Apple Account, by subscription group.
package struct SubscriptionStatuses: Sendable {
    package let groups: [SubscriptionGroup]
    package let environment: AppStoreEnvironment

    package init(groups: [SubscriptionGroup], environment: AppStoreEnvironment) {
        self.groups = groups
        self.environment = environment
    }
}

/// One subscription group with the latest state of each subscription in it.
package struct SubscriptionGroup: Sendable {
    package let subscriptionGroupIdentifier: String
    package let subscriptions: [Subscription]

    package init(subscriptionGroupIdentifier: String, subscriptions: [Subscription]) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.subscriptions = subscriptions
    }
}

/// One subscription: status, latest transaction and what will happen at the next renewal.
package struct Subscription: Sendable {
    package let status: SubscriptionStatus
    package let originalTransactionID: String
    package let transaction: Transaction
    /// The verified renewal information.
    package let renewalInfo: VerifiedData

    package init(
        status: SubscriptionStatus, originalTransactionID: String, transaction: Transaction, renewalInfo: VerifiedData
    ) {
        self.status = status
        self.originalTransactionID = originalTransactionID
        self.transaction = transaction
        self.renewalInfo = renewalInfo
    }
}

// MARK: From a request

extension SubscriptionStatus {
    /// The statuses that Apple takes as a filter.
    static let filterRange: ClosedRange<Int32> = 1...5

    /// Reads the statuses to report from the query parameter `status`, which may be repeated, each of them once.
    package static func filter(_ fields: inout FieldReader) -> [SubscriptionStatus] {
        var statuses: [SubscriptionStatus] = []
        for text in fields.values("status") {
            guard let number = Int32(text), String(number) == text, filterRange.contains(number) else {
                fields.note(
                    "status", "range",
                    "`status` must be from 1 (active) to 5 (revoked); it may be given several times.",
                    AppleErrorName("InvalidStatusError", 4_000_031))
                continue
            }
            let status = SubscriptionStatus(rawValue: number)
            if !statuses.contains(status) { statuses.append(status) }
        }
        return statuses
    }
}
