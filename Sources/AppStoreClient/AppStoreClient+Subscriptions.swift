import AppStoreAPI
package import Domain

extension AppStoreClient: SubscriptionGateway {
    package func subscriptionStatuses(
        _ identifier: String, statuses: [Domain.SubscriptionStatus], _ call: UpstreamCall
    ) async throws(ServiceError) -> SubscriptionStatuses {
        let request = UpstreamRequest(
            .getAllSubscriptionStatuses(transactionId: identifier, statuses: statuses.map(\.rawValue)))
        let (response, environment) = try await find(identifier, request, call)
        let answer: StatusResponse = try parse(response)
        var groups: [SubscriptionGroup] = []
        for item in answer.data ?? [] {
            groups.append(try group(item, from: .init(app: call.app, environment: environment)))
        }
        let found = SubscriptionStatuses(groups: groups, environment: environment)
        for entry in found.subscriptions { answers.note(AppleAnswer(app: call.app.slug, entry)) }
        return found
    }

    private func group(
        _ item: SubscriptionGroupIdentifierItem, from origin: SignedDataDecoder.Origin
    ) throws(ServiceError) -> SubscriptionGroup {
        var subscriptions: [Subscription] = []
        for last in item.lastTransactions ?? [] {
            let transaction = try decoder.transaction(
                try required(last.signedTransactionInfo, "signedTransactionInfo"), from: origin)
            let renewalInfo = try decoder.data(
                try required(last.signedRenewalInfo, "signedRenewalInfo"), .renewalInfo, from: origin)
            subscriptions.append(
                Subscription(
                    status: Domain.SubscriptionStatus(rawValue: try required(last.status, "status").rawValue),
                    originalTransactionID: last.originalTransactionId ?? transaction.originalTransactionID,
                    transaction: transaction, renewalInfo: renewalInfo))
        }
        return SubscriptionGroup(
            subscriptionGroupIdentifier: try required(
                item.subscriptionGroupIdentifier, "subscriptionGroupIdentifier"),
            subscriptions: subscriptions)
    }

    package func extendRenewalDate(
        _ extension: RenewalExtension, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> RenewalExtensionOutcome {
        let request = UpstreamRequest(
            .extendSubscriptionRenewalDate(originalTransactionId: originalTransactionID),
            body: ExtendRenewalDateRequest(`extension`).serialized())
        let (response, environment) = try await find(originalTransactionID, request, call)
        let answer: ExtendRenewalDateResponse = try parse(response)
        return RenewalExtensionOutcome(
            originalTransactionID: answer.originalTransactionId, webOrderLineItemID: answer.webOrderLineItemId,
            success: try required(answer.success, "success"), effectiveDate: answer.effectiveDate,
            environment: environment)
    }

    package func extendRenewalDates(
        _ extension: MassRenewalExtension, _ call: UpstreamCall
    ) async throws(ServiceError) -> String {
        let request = UpstreamRequest(
            .extendSubscriptionRenewalDatesForAllActiveSubscribers(),
            body: MassExtendRenewalDateRequest(`extension`).serialized())
        let (response, _) = try await ask(request, call)
        let answer: MassExtendRenewalDateResponse = try parse(response)
        return try required(answer.requestIdentifier, "requestIdentifier")
    }

    package func massExtensionStatus(
        productID: String, requestIdentifier: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> MassRenewalExtensionStatus {
        let request = UpstreamRequest(
            .getStatusOfSubscriptionRenewalDateExtensions(productId: productID, requestIdentifier: requestIdentifier))
        let (response, _) = try await ask(request, call)
        let answer: MassExtendRenewalDateStatusResponse = try parse(response)
        return MassRenewalExtensionStatus(
            requestIdentifier: answer.requestIdentifier, isComplete: try required(answer.complete, "complete"),
            completeDate: answer.completeDate, succeededCount: answer.succeededCount,
            failedCount: answer.failedCount)
    }
}

extension AppleAnswer {
    /// What an answer about subscriptions says of one.
    fileprivate init(app: String, _ entry: GroupedSubscription) {
        let subscription = entry.subscription
        self.init(
            app: app, transaction: subscription.transaction,
            standing: Standing(
                status: subscription.status, subscriptionGroupIdentifier: entry.subscriptionGroupIdentifier,
                renewalInfo: subscription.renewalInfo, signedDate: subscription.transaction.signedDate))
    }
}
