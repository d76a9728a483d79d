package import Domain
import Synchronization

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
