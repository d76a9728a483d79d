import Domain
import Foundation
import HTTPTypes
import JSON

/// The notifications that have come, and those that somebody forwards.
struct ReceivedNotificationRoutes: Sendable {
    let service: NotificationService
    let tokens: PageTokenCoder

    /// `GET …/notifications`: latest first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(
            &fields, of: "notifications", app, input, maximumSize: NotificationQuery.maximumPageSize, tokens)
        var query = NotificationQuery(limit: page.limit)
        query.type = fields.text("type", in: .query)
        query.subtype = fields.text("subtype", in: .query)
        query.user = fields.user(in: .query)
        query.transactionID = fields.identifier("transactionId", .transaction, in: .query, isRequired: false)
        query.environment = fields.environment(for: app)
        query.since = fields.time("since", in: .query)
        try fields.finish()
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
        var fields = try input.fields()
        let includesSigned = fields.includesSigned()
        try fields.finish()
        let stored = try await service.notification(app: app, uuid: try input.parameter("notificationUUID"))
        let signedSize = includesSigned ? stored.notification.signed.utf8.count : 0
        return Answer.object(capacity: NotificationBody.capacity([stored]) + signedSize) {
            NotificationBody.write(stored, includesSigned: includesSigned, to: &$0)
        }
    }

    /// `POST …/notifications/{notificationUUID}:replay`: for operators.
    func replay(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let stored = try await service.replay(app: app, uuid: try input.parameter("notificationUUID"))
        return Answer.object(capacity: NotificationBody.capacity([stored])) {
            NotificationBody.write(stored, includesSigned: false, to: &$0)
        }
    }

    /// `POST …/notifications`: one that came in elsewhere.
    func forward(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let signed = SignedPayload.read(&fields)
        guard fields.isValid, let signed else { throw fields.error }
        switch try await receive(signed, app, for: input.requester) {
        case .new(let uuid): return Answer.object(.created) { $0.member("notificationUUID", uuid) }
        case .known(let uuid): return Answer.object { $0.member("notificationUUID", uuid) }
        }
    }

    /// What Apple did not sign is no fault of the caller's credential, which a 401 would blame.
    private func receive(
        _ signed: String, _ app: App, for requester: Requester
    ) async throws(ServiceError) -> NotificationService.Receipt {
        do throws(ServiceError) {
            return try await service.receive(signed, app: app, source: .forwarded, for: requester)
        } catch {
            guard error.reason == .signatureInvalid else { throw error }
            throw ServiceError(.notificationNotSigned, error.message, cause: error.cause)
        }
    }
}

/// Where Apple posts its notifications: verify, keep, answer.
///
/// The App Store takes any status but those of success for "try again", so a status here is also advice to whoever reads logs.
struct WebhookRoutes: Sendable {
    let service: NotificationService

    /// `POST /webhooks/apple/{app}`; Apple may add members to the body.
    func receive(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        fields.ignoreUnknown()
        let signed = SignedPayload.read(&fields)
        guard fields.isValid, let signed else { throw fields.error }
        _ = try await service.receive(signed, app: app, source: .webhook, for: input.requester)
        return Answer.object { _ in }
    }
}

/// The body around a notification that Apple signed.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2
enum SignedPayload {
    /// The notification: compact JWS, unverified.
    static func read(_ fields: inout FieldReader) -> String? {
        fields.text("signedPayload", bytes: 1...Routes.maximumNotificationBytes)
    }
}

/// What Apple has sent us or tried to: its history, and notifications asked for as a test.
struct NotificationRoutes: Sendable {
    let gateway: any NotificationGateway
    let now: WallClock

    /// `POST …/testNotifications`.
    func requestTest(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let environment = fields.environment(for: app, isRequired: true)
        guard fields.isValid, let environment else { throw fields.error }
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
        var fields = try input.fields()
        let token = fields.identifier("token", .testNotification, in: .path)
        let environment = fields.environment(for: app, isRequired: true)
        let includesSigned = fields.includesSigned()
        guard fields.isValid, let token, let environment else { throw fields.error }
        let sent = try await gateway.testNotification(token, input.call(app, environment))
        return Answer.object(capacity: 4096) {
            NotificationBody.write(sent, includesSigned: includesSigned, to: &$0)
        }
    }

    /// `POST …/appleNotificationHistory:query`: one page of Apple's a call.
    func history(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let environment = fields.environment(for: app, isRequired: true)
        let includesSigned = fields.includesSigned()
        let token = PagePosition.paginationToken(&fields)
        // Without an environment the wider window is the one that cannot refuse too much.
        let query = NotificationHistoryQuery(&fields, environment: environment ?? .production, now: now())
        guard fields.isValid, let environment, let query else { throw fields.error }
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
}

/// The objects of our API for Apple's notifications: their decoded parts byte for byte.
enum NotificationBody {
    /// A notification that Apple sent or tried to send.
    static func write(_ sent: SentNotification, includesSigned: Bool, to writer: inout JSONWriter) {
        write(sent.notification, includesSigned: includesSigned, to: &writer)
        writer.memberArray("sendAttempts") { writer in
            for attempt in sent.attempts {
                writer.object { writer in
                    writer.memberIfPresent("attemptDate", attempt.attemptDate)
                    writer.memberIfPresent("sendAttemptResult", attempt.result)
                }
            }
        }
    }

    /// A notification that is kept here.
    static func write(_ stored: StoredNotification, includesSigned: Bool, to writer: inout JSONWriter) {
        let apple = stored.notification
        writer.member("notificationUUID", apple.notificationUUID)
        writer.member("notificationType", apple.notificationType)
        writer.memberOrNull("subtype", apple.subtype)
        writer.member("source", stored.source.rawValue)
        writer.member("receivedAt", Timestamp.text(stored.receivedAt))
        writer.memberOrNull("processedAt", stored.processedAt.map(Timestamp.text))
        writer.memberOrNull("user", stored.user?.value)
        write(apple, includesSigned: includesSigned, to: &writer)
    }

    /// The capacity that an answer with these notifications needs.
    static func capacity(_ notifications: some Collection<StoredNotification>) -> Int {
        notifications.reduce(256) { size, stored in
            let apple = stored.notification
            let parts = [apple.transaction?.payload, apple.renewalInfo?.payload, apple.appTransaction?.payload]
            return parts.reduce(size + 512 + apple.payload.count) { $0 + ($1?.count ?? 0) }
        }
    }

    private static func write(
        _ notification: AppleNotification, includesSigned: Bool, to writer: inout JSONWriter
    ) {
        writer.memberRaw("notification", notification.payload)
        if let transaction = notification.transaction { writer.memberRaw("transaction", transaction.payload) }
        if let renewalInfo = notification.renewalInfo { writer.memberRaw("renewalInfo", renewalInfo.payload) }
        if let appTransaction = notification.appTransaction {
            writer.memberRaw("appTransaction", appTransaction.payload)
        }
        writer.member("environment", notification.environment.rawValue)
        writer.member("verified", true)
        if includesSigned { writer.member("signedPayload", notification.signed) }
    }
}
