import AppStoreAPI

extension AppleService {
    /// Get All Subscription Statuses.
    func subscriptionStatuses(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let subscriptions = try state.withContent { content throws(AppleServiceError) in
            let customer = try content.world.customer(identifier, bundleID: app.bundleID, environment: environment)
            let wanted = try Self.statuses(call.request.query)
            return content.world.latestPeriods(of: customer).compactMap { latest -> UnsignedSubscription? in
                let status = content.world.status(ofLatest: latest, at: call.milliseconds)
                guard wanted.isEmpty || wanted.contains(status),
                    let renewalInfo = content.renewalInfo(of: latest, at: call.milliseconds)
                else { return nil }
                return UnsignedSubscription(status: status, transaction: latest.payload, renewalInfo: renewalInfo)
            }
        }
        var groups: [SubscriptionGroupIdentifierItem] = []
        for subscription in subscriptions {
            let group = subscription.transaction.subscriptionGroupIdentifier
            let item = try item(subscription, call)
            if let index = groups.firstIndex(where: { $0.subscriptionGroupIdentifier == group }) {
                groups[index].lastTransactions?.append(item)
            } else {
                groups.append(
                    SubscriptionGroupIdentifierItem {
                        $0.subscriptionGroupIdentifier = group
                        $0.lastTransactions = [item]
                    })
            }
        }
        let response = StatusResponse {
            $0.environment = environment.wireValue
            $0.bundleId = app.bundleID
            $0.appAppleId = app.appAppleID
            $0.data = groups
        }
        return .json(200, response.serialized())
    }

    /// A subscription's state before it is signed.
    private struct UnsignedSubscription: Sendable {
        let status: SubscriptionStatus
        let transaction: TransactionPayload
        let renewalInfo: RenewalInfoPayload
    }

    private func item(_ subscription: UnsignedSubscription, _ call: AppleCall) throws(AppleServiceError)
        -> LastTransactionsItem
    {
        var renewalInfo = subscription.renewalInfo
        renewalInfo.signedDate = call.milliseconds
        if call.tampering == .wrongEnvironment { renewalInfo.environment = environment.other.wireValue }
        var item = LastTransactionsItem()
        item.status = subscription.status
        item.originalTransactionId = subscription.transaction.originalTransactionId
        item.signedTransactionInfo = try sign([subscription.transaction], call).first
        item.signedRenewalInfo = try sign(renewalInfo.serialized(), call)
        return item
    }

    /// The statuses that are asked for; none stands for all.
    private static func statuses(_ query: [QueryItem]) throws(AppleServiceError) -> Set<SubscriptionStatus> {
        var statuses: Set<SubscriptionStatus> = []
        for item in query where item.name == "status" {
            guard let status = Int32(item.value).map({ SubscriptionStatus(rawValue: $0) }), status.isKnown else {
                throw .error(.invalidStatus)
            }
            statuses.insert(status)
        }
        return statuses
    }
}
