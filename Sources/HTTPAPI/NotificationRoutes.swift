import Domain
import HTTPTypes
import JSON

/// What Apple has sent us or tried to: its history, and notifications asked for as a test.
struct NotificationRoutes: Sendable {
    let gateway: any NotificationGateway
    let now: WallClock

    /// `POST …/testNotifications`.
    func requestTest(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in try input.refuseUnknownQuery(besides: ["environment"]) }
        let environment = checks.run { () throws(ServiceError) in try input.requiredEnvironment(for: app) }
        guard checks.havePassed, let environment else { throw checks.error }
        let token = try await gateway.requestTestNotification(input.call(app, environment))
        var answer = Answer.object(.accepted) { writer in
            writer.member("testNotificationToken", token)
            writer.member("environment", environment.rawValue)
        }
        // A token that would have to be encoded is one that the status route refuses, so it gets no address.
        if AppleIdentifier.testNotification.isValid(token) {
            answer.headers[.location] =
                "/v1/apps/\(app.slug)/testNotifications/\(token)?environment=\(environment.rawValue)"
        }
        return answer
    }

    /// `GET …/testNotifications/{token}`.
    func test(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        let token = checks.run { () throws(ServiceError) in try input.identifier("token", .testNotification) }
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: ["environment", "include"])
        }
        let environment = checks.run { () throws(ServiceError) in try input.requiredEnvironment(for: app) }
        let includesSigned = checks.run { () throws(ServiceError) in try input.includesSigned() }
        guard checks.havePassed, let token, let environment, let includesSigned else { throw checks.error }
        let sent = try await gateway.testNotification(token, input.call(app, environment))
        return Answer.object(capacity: 4096) {
            NotificationBody.write(sent, includesSigned: includesSigned, to: &$0)
        }
    }

    /// `POST …/appleNotificationHistory:query`: one page of Apple's a call.
    func history(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let fields = try input.jsonObject().fieldValues
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: ["environment", "include", "paginationToken"])
        }
        let environment = checks.run { () throws(ServiceError) in try input.requiredEnvironment(for: app) }
        let includesSigned = checks.run { () throws(ServiceError) in try input.includesSigned() }
        let token = checks.run { () throws(ServiceError) in try Self.paginationToken(input) }
        // Without an environment the wider window is the one that cannot refuse too much.
        let query = checks.run { () throws(ServiceError) in
            try NotificationHistoryQuery(fields, environment: environment ?? .production, now: now())
        }
        guard checks.havePassed, let environment, let includesSigned, let token, let query else { throw checks.error }
        let page = try await gateway.notificationHistoryPage(
            query, paginationToken: token, input.call(app, environment)
        ).verifiedWhole()
        return Answer.object(capacity: 8192) { writer in
            writer.member("environment", environment.rawValue)
            writer.memberArray("notificationHistory") { writer in
                for sent in page.notifications {
                    writer.object { NotificationBody.write(sent, includesSigned: includesSigned, to: &$0) }
                }
            }
            writer.member("hasMore", page.hasMore)
            writer.memberIfPresent("paginationToken", page.paginationToken)
        }
    }

    private static func paginationToken(_ input: RequestInput) throws(ServiceError) -> String? {
        guard let token = try input.single("paginationToken") else { return nil }
        try PagePosition.checkPaginationToken(token)
        return token
    }
}
