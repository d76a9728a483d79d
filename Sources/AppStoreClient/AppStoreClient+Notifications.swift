import AppStoreAPI
package import Domain

extension AppStoreClient: NotificationGateway {
    package func requestTestNotification(_ call: UpstreamCall) async throws(ServiceError) -> String {
        let (response, _) = try await ask(UpstreamRequest(.requestTestNotification()), call)
        let answer: SendTestNotificationResponse = try parse(response)
        return try required(answer.testNotificationToken, "testNotificationToken")
    }

    package func testNotification(
        _ token: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> SentNotification {
        let request = UpstreamRequest(.getTestNotificationStatus(testNotificationToken: token))
        let (response, environment) = try await ask(request, call)
        let answer: CheckTestNotificationResponse = try parse(response)
        return try sent(
            answer.signedPayload, answer.sendAttempts, from: .init(app: call.app, environment: environment))
    }

    package func notificationHistoryPage(
        _ query: NotificationHistoryQuery, paginationToken: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> NotificationHistoryPage {
        let request = UpstreamRequest(
            .getNotificationHistory(paginationToken: paginationToken),
            body: NotificationHistoryRequest(query).serialized())
        let (response, environment) = try await ask(request, call)
        let page: NotificationHistoryResponse = try parse(response)
        let items = page.notificationHistory ?? []
        let origin = SignedDataDecoder.Origin(app: call.app, environment: environment)
        var notifications: [SentNotification] = []
        var unverified: [UnverifiedNotification] = []
        for item in items {
            do throws(ServiceError) {
                notifications.append(try sent(item.signedPayload, item.sendAttempts, from: origin))
            } catch {
                // It must not keep those behind it from being found.
                let signed = item.signedPayload ?? ""
                unverified.append(
                    UnverifiedNotification(
                        signed: signed, fault: error.cause ?? error.message,
                        claims: NotificationClaims(unverified: signed)))
            }
        }
        return NotificationHistoryPage(
            notifications: notifications, unverified: unverified, paginationToken: page.paginationToken,
            hasMore: page.hasMore ?? false)
    }

    private func sent(
        _ signed: String?, _ attempts: [SendAttemptItem]?, from origin: SignedDataDecoder.Origin
    ) throws(ServiceError) -> SentNotification {
        SentNotification(
            notification: try decoder.notification(try required(signed, "signedPayload"), from: origin),
            attempts: (attempts ?? []).map {
                SendAttempt(attemptDate: $0.attemptDate, result: $0.sendAttemptResult?.rawValue)
            })
    }
}
