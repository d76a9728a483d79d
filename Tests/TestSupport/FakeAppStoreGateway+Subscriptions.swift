package import Domain
import Synchronization

extension FakeAppStoreGateway: SubscriptionGateway {
    /// Gives a subscription another status than active.
    package func setStatus(_ status: SubscriptionStatus, of originalTransactionID: String) {
        state.withLock { $0.statuses[originalTransactionID] = status }
    }

    /// One group with every auto-renewable purchase of the account.
    package func subscriptionStatuses(
        _ identifier: String, statuses: [SubscriptionStatus], _ call: UpstreamCall
    ) async throws(ServiceError) -> SubscriptionStatuses {
        let account = try await account(of: identifier, .subscriptions(identifier, statuses), call)
        let known = state.withLock { $0.statuses }
        let subscriptions = account.filter { $0.productType == .autoRenewableSubscription }.map { transaction in
            Subscription(
                status: known[transaction.originalTransactionID] ?? .active,
                originalTransactionID: transaction.originalTransactionID, transaction: transaction,
                renewalInfo: VerifiedData(payload: Array(#"{"autoRenewStatus":1}"#.utf8), signed: "r.r.r"))
        }
        return SubscriptionStatuses(
            groups: [
                SubscriptionGroup(
                    subscriptionGroupIdentifier: "group",
                    subscriptions: subscriptions.filter { statuses.isEmpty || statuses.contains($0.status) })
            ], environment: account.first?.environment ?? .production)
    }

    package func extendRenewalDate(
        _ extension: RenewalExtension, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> RenewalExtensionOutcome {
        let account = try await account(of: originalTransactionID, .extend(originalTransactionID, `extension`), call)
        return RenewalExtensionOutcome(
            originalTransactionID: originalTransactionID, webOrderLineItemID: "w", success: true,
            effectiveDate: 1_700_000_000_000, environment: account.first?.environment ?? .production)
    }

    package func extendRenewalDates(
        _ extension: MassRenewalExtension, _ call: UpstreamCall
    ) async throws(ServiceError) -> String {
        try await ask(.extendAll(`extension`), about: `extension`.productID, call)
        return `extension`.extension.requestIdentifier
    }

    package func massExtensionStatus(
        productID: String, requestIdentifier: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> MassRenewalExtensionStatus {
        try await ask(.massExtensionStatus(productID, requestIdentifier), about: productID, call)
        return MassRenewalExtensionStatus(
            requestIdentifier: requestIdentifier, isComplete: true, completeDate: 1_700_000_000_000, succeededCount: 3,
            failedCount: 1)
    }
}
