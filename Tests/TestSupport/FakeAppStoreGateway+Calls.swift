package import Domain
import Synchronization

// MARK: Single transactions and orders

extension FakeAppStoreGateway: TransactionGateway {
    /// Lets an order id stand for these transactions.
    package func addOrder(_ orderID: String, _ transactionIDs: [String]) {
        state.withLock { $0.orders[orderID] = transactionIDs }
    }

    package func appTransaction(_ identifier: String, _ call: UpstreamCall) async throws(ServiceError) -> AppTransaction
    {
        let account = try await account(of: identifier, .appTransaction(identifier), call)
        let id = account.first?.appTransactionID
        return AppTransaction(
            data: VerifiedData(payload: Array(#"{"appTransactionId":"\#(id ?? "")"}"#.utf8), signed: "x.y.z"),
            appTransactionID: id, environment: account.first?.environment ?? .production)
    }

    package func order(_ orderID: String, _ call: UpstreamCall) async throws(ServiceError) -> OrderLookup {
        try await ask(.order(orderID), about: orderID, call)
        let found = state.withLock { state in
            state.orders[orderID].map { ids in
                state.accounts.joined().filter { ids.contains($0.transactionID) }
            }
        }
        return OrderLookup(
            status: found == nil ? 1 : 0, transactions: found ?? [], environment: call.environment ?? .production)
    }

    package func setAppAccountToken(
        _ token: String, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        let question = Question.setAppAccountToken(token, originalTransactionID)
        return try await account(of: originalTransactionID, question, call).first?.environment ?? .production
    }

    package func finish(
        _ transactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        try await account(of: transactionID, .finish(transactionID), call).first?.environment ?? .production
    }

    package func historyPageV1(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        page(try await account(of: identifier, .historyV1(identifier, revision: revision), call), revision)
    }

    package func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try await account(of: originalTransactionID, .refundsV1(originalTransactionID), call)
        return TransactionPage(
            transactions: account.filter { $0.revocationDate != nil }, revision: nil, hasMore: false,
            environment: account.first?.environment ?? .production)
    }
}

// MARK: Subscriptions

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

// MARK: Notifications

extension FakeAppStoreGateway: NotificationGateway {
    /// Adds a notification to the history.
    package func addNotification(_ notification: SentNotification) {
        state.withLock { $0.notifications.append(notification) }
    }

    package func requestTestNotification(_ call: UpstreamCall) async throws(ServiceError) -> String {
        try await ask(.requestTestNotification, call)
        return "token_1"
    }

    package func testNotification(_ token: String, _ call: UpstreamCall) async throws(ServiceError) -> SentNotification
    {
        try await ask(.testNotification(token), about: token, call)
        return .sample(type: "TEST", environment: call.environment ?? .production)
    }

    /// One notification a page.
    package func notificationHistoryPage(
        _ query: NotificationHistoryQuery, paginationToken: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> NotificationHistoryPage {
        try await ask(.notificationHistory(query, paginationToken: paginationToken), call)
        let all = state.withLock { $0.notifications }
        let position = paginationToken.flatMap(Int.init) ?? 0
        let hasMore = position + 1 < all.count
        return NotificationHistoryPage(
            notifications: Array(all.dropFirst(position).prefix(1)),
            paginationToken: hasMore ? String(position + 1) : nil, hasMore: hasMore)
    }
}

extension SentNotification {
    /// A notification with what a test cares about.
    package static func sample(
        type: String, subtype: String? = nil, transaction: Transaction? = nil,
        environment: AppStoreEnvironment = .production
    ) -> SentNotification {
        SentNotification(
            notification: AppleNotification(
                notificationUUID: "018c0000-0000-7000-8000-000000000001", notificationType: type, subtype: subtype,
                signedDate: 1_700_000_000_000, environment: environment,
                payload: Array(#"{"notificationType":"\#(type)"}"#.utf8), signed: "n.n.n", transaction: transaction,
                renewalInfo: nil, appTransaction: nil),
            attempts: [
                SendAttempt(attemptDate: 1_700_000_000_000, result: "SUCCESS"),
                SendAttempt(attemptDate: nil, result: nil),
            ])
    }
}
