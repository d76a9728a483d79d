import Domain
import Foundation
import HTTPTypes
import JSON

/// The notifications that have come, and those that somebody forwards.
struct ReceivedNotificationRoutes: Sendable {
    private static let filters: Set<String> = [
        "type", "subtype", "user", "transactionId", "environment", "since",
    ]

    let service: NotificationService
    let tokens: PageTokenCoder

    /// `GET …/notifications`: latest first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: Self.filters.union(PageRequest.parameters))
        }
        let page = checks.run { () throws(ServiceError) in
            try PageRequest(of: "notifications", app, input, maximumSize: NotificationQuery.maximumPageSize, tokens)
        }
        let type = checks.run { () throws(ServiceError) in try input.single("type") }
        let subtype = checks.run { () throws(ServiceError) in try input.single("subtype") }
        let user = checks.run { () throws(ServiceError) in try input.userFilter() }
        let transactionID = checks.run { () throws(ServiceError) in try input.transactionFilter() }
        let environment = checks.run { () throws(ServiceError) in try input.environment(for: app) }
        let since = checks.run { () throws(ServiceError) in try input.time("since") }
        guard checks.havePassed, let page, let type, let subtype, let user, let transactionID, let environment,
            let since
        else { throw checks.error }
        var query = NotificationQuery(limit: page.limit)
        query.type = type
        query.subtype = subtype
        query.user = user
        query.transactionID = transactionID
        query.environment = environment
        query.since = since
        query.before = try page.position { Int64($0) }
        let found = try await service.notifications(app: app, query)
        let (entries, next) = page.page(found) { String($0.position) }
        return Answer.object(capacity: NotificationBody.capacity(entries.map(\.notification))) { writer in
            writer.memberArray("notifications") { writer in
                for entry in entries {
                    writer.object { NotificationBody.write(entry.notification, includesSigned: false, to: &$0) }
                }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET …/notifications/{notificationUUID}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in try input.refuseUnknownQuery(besides: ["include"]) }
        let includesSigned = checks.run { () throws(ServiceError) in try input.includesSigned() }
        guard checks.havePassed, let includesSigned else { throw checks.error }
        let stored = try await service.notification(app: app, uuid: try input.parameter("notificationUUID"))
        let signedSize = includesSigned ? stored.notification.signed.utf8.count : 0
        return Answer.object(capacity: NotificationBody.capacity([stored]) + signedSize) {
            NotificationBody.write(stored, includesSigned: includesSigned, to: &$0)
        }
    }

    /// `POST …/notifications`: one that came in elsewhere.
    func forward(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let body = try SignedPayloadBody(try input.jsonObject(), takesUnknown: false)
        switch try await service.receive(body.signedPayload, app: app, source: .forwarded) {
        case .new(let uuid): return Answer.object(.created) { $0.member("notificationUUID", uuid) }
        case .known(let uuid): return Answer.object { $0.member("notificationUUID", uuid) }
        }
    }
}
