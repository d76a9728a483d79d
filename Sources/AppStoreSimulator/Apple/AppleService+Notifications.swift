import AppStoreAPI
import Foundation
import JSON

extension AppleService {
    /// Get Notification History.
    func notificationHistory(_ app: RegisteredApp, _ call: Call) throws(Refusal) -> OutgoingResponse {
        let tokens = call.request.query.filter { $0.name == "paginationToken" }
        guard tokens.count <= 1 else { throw .error(.invalidPaginationToken) }
        let members = try members(of: call)
        let now = call.milliseconds
        let response = try state.withContent { content throws(Refusal) in
            let filter = try NotificationFilter(members, in: environment, now: now)
            var customer: Customer?
            if let transactionID = filter.transactionID {
                customer = try content.world.customer(transactionID, bundleID: app.bundleID, environment: environment)
            }
            let list = "\(app.bundleID) \(environment.rawValue) \(filter.canonicalText)"
            var start = 0
            if let token = tokens.first { start = try PaginationToken(token.value, of: list, now: now).number }
            let left = content.outbox.notifications.filter { notification in
                notification.number > start && notification.draft.bundleID == app.bundleID
                    && notification.draft.environment == environment && filter.admits(notification)
                    && (customer == nil || notification.draft.customer == customer)
            }
            let page = left.prefix(content.pageSize)
            return NotificationHistoryResponse {
                $0.hasMore = left.count > page.count
                $0.notificationHistory = page.map { notification in
                    NotificationHistoryResponseItem {
                        $0.signedPayload = notification.signedPayload
                        $0.sendAttempts = notification.sendAttempts
                    }
                }
                if left.count > page.count, let last = page.last {
                    $0.paginationToken = PaginationToken(list: list, date: now, number: last.number).text
                }
            }
        }
        return .json(200, response.serialized())
    }

    /// Request a Test Notification.
    func requestTestNotification(_ app: RegisteredApp, _ call: Call) throws(Refusal) -> OutgoingResponse {
        let now = call.milliseconds
        let token = state.withContent { content -> String? in
            let token = TestNotificationToken.text(content.outbox.uuid(), now: now)
            let draft = NotificationDraft(
                .test, of: app.bundleID, in: environment, about: .data(NotificationSubject()))
            return content.outbox.post(draft, from: app, now: now, testToken: token)?.testToken
        }
        guard let token else { throw .error(.serverNotificationURLNotFound) }
        state.agendaChanged()
        return .json(200, SendTestNotificationResponse { $0.testNotificationToken = token }.serialized())
    }

    /// Get Test Notification Status.
    func testNotificationStatus(
        _ token: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        guard TestNotificationToken.isWellFormed(token) else { throw .error(.invalidTestNotificationToken) }
        let notification = state.withContent { $0.outbox.test(token) }
        guard let notification, !notification.attempts.isEmpty, notification.draft.bundleID == app.bundleID,
            notification.draft.environment == environment,
            call.milliseconds - notification.signedDate < TestNotificationToken.lifetime
        else { throw .error(.testNotificationNotFound) }
        let response = CheckTestNotificationResponse {
            $0.signedPayload = notification.signedPayload
            $0.sendAttempts = notification.sendAttempts
        }
        return .json(200, response.serialized())
    }

    /// The members of a JSON body.
    ///
    /// - Throws: a status without a number for what is not one JSON object.
    func members(of call: Call) throws(Refusal) -> JSONMembers {
        guard let body = call.request.body else { throw .malformed(status: 413, "the body is too long") }
        guard Self.isJSON(call.request.contentType) else {
            throw .malformed(status: 415, "Content-Type is not application/json")
        }
        do throws(JSONError) {
            return try JSONScanner.members(of: body)
        } catch {
            throw .malformed(status: 400, "the body is not one JSON object: \(error)")
        }
    }
}
