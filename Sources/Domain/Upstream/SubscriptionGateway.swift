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

/// What one renewal date is extended by, and why; already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest
package struct RenewalExtension: Sendable, Equatable {
    /// 1 to 90.
    package let days: Int32
    /// Apple's `extendReasonCode`, 0 to 3.
    package let reasonCode: Int32
    /// The caller's own identifier, by which Apple recognises a repetition; at most 128 characters.
    package let requestIdentifier: String

    package init(days: Int32, reasonCode: Int32, requestIdentifier: String) {
        self.days = days
        self.reasonCode = reasonCode
        self.requestIdentifier = requestIdentifier
    }
}

/// What became of the extension of one renewal date.
package struct RenewalExtensionOutcome: Sendable, Equatable {
    package let originalTransactionID: String?
    package let webOrderLineItemID: String?
    package let success: Bool
    /// The new renewal date, in UNIX milliseconds.
    package let effectiveDate: Int64?
    package let environment: AppStoreEnvironment

    package init(
        originalTransactionID: String?, webOrderLineItemID: String?, success: Bool, effectiveDate: Int64?,
        environment: AppStoreEnvironment
    ) {
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.success = success
        self.effectiveDate = effectiveDate
        self.environment = environment
    }
}

/// What all renewal dates of a product are extended by, and where; already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest
package struct MassRenewalExtension: Sendable, Equatable {
    /// Days, reason and identifier; the identifier is a UUID here.
    package let `extension`: RenewalExtension
    package let productID: String
    /// ISO 3166-1 alpha-3; nil for every storefront, never empty.
    package let storefrontCountryCodes: [String]?

    package init(extension: RenewalExtension, productID: String, storefrontCountryCodes: [String]?) {
        self.extension = `extension`
        self.productID = productID
        self.storefrontCountryCodes = storefrontCountryCodes
    }
}

/// How far a mass extension has got.
package struct MassRenewalExtensionStatus: Sendable, Equatable {
    package let requestIdentifier: String?
    package let isComplete: Bool
    /// In UNIX milliseconds.
    package let completeDate: Int64?
    package let succeededCount: Int64?
    package let failedCount: Int64?

    package init(
        requestIdentifier: String?, isComplete: Bool, completeDate: Int64?, succeededCount: Int64?, failedCount: Int64?
    ) {
        self.requestIdentifier = requestIdentifier
        self.isComplete = isComplete
        self.completeDate = completeDate
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}
