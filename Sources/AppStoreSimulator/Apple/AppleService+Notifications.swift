import AppStoreAPI
import Foundation
import JOSE
import JSON

extension AppleService {
    /// Get Notification History.
    func notificationHistory(_ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError) -> OutgoingResponse {
        let tokens = call.request.query.filter { $0.name == "paginationToken" }
        guard tokens.count <= 1 else { throw .error(.invalidPaginationToken) }
        let members = try members(of: call)
        let now = call.milliseconds
        let response = try state.withContent { content throws(AppleServiceError) in
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
    func requestTestNotification(_ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError) -> OutgoingResponse
    {
        let now = call.milliseconds
        let token = state.withContent { content -> String? in
            let token = TestNotificationToken.text(content.outbox.uuid(), now: now)
            let draft = NotificationDraft(
                .test, of: app.bundleID, in: environment, about: .data(NotifiedPurchase()))
            return content.outbox.post(draft, from: app, now: now, testToken: token)?.testToken
        }
        guard let token else { throw .error(.serverNotificationURLNotFound) }
        state.agendaChanged()
        return .json(200, SendTestNotificationResponse { $0.testNotificationToken = token }.serialized())
    }

    /// Get Test Notification Status.
    func testNotificationStatus(
        _ token: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
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
}

/// What a call of Get Notification History asks for.
struct NotificationFilter: Sendable {
    private static let day: Int64 = 86_400_000

    /// UNIX milliseconds; only notifications signed from then on.
    let startDate: Int64
    /// UNIX milliseconds; only notifications signed before.
    let endDate: Int64
    let type: NotificationTypeV2?
    let subtype: Subtype?
    /// Any transaction of the customer.
    let transactionID: String?
    let onlyFailures: Bool

    /// How far back Apple's history reaches, in milliseconds.
    static func window(_ environment: SimulatedEnvironment) -> Int64 { (environment == .production ? 180 : 30) * day }

    /// Reads a request's body.
    ///
    /// - Parameters:
    ///   - body: the members of the request's body.
    ///   - environment: the server that is asked.
    ///   - now: UNIX milliseconds.
    /// - Throws: 4000000, 4000012, 4000013, 4000015, 4000016, 4000018 or 4000019.
    init(_ body: JSONMembers, in environment: SimulatedEnvironment, now: Int64) throws(AppleServiceError) {
        startDate = try Self.date(body["startDate"], .invalidStartDate)
        endDate = try Self.date(body["endDate"], .invalidEndDate)
        guard startDate < endDate else { throw .error(.startDateAfterEndDate) }
        guard startDate >= now - Self.window(environment) else { throw .error(.startDateTooFarInPast) }
        type = try Self.text(body["notificationType"], .invalidNotificationType).map {
            NotificationTypeV2(rawValue: $0)
        }
        subtype = try Self.text(body["notificationSubtype"], .invalidNotificationType).map { Subtype(rawValue: $0) }
        transactionID = try Self.text(body["transactionId"], .invalidTransactionId)
        if let type {
            guard NotificationSubtypes.areKnown(type, subtype) else { throw .error(.invalidNotificationType) }
            guard transactionID == nil else { throw .error(.multipleFiltersSupplied) }
        } else if subtype != nil {
            throw .error(.invalidNotificationType, message: "A subtype needs its type")
        }
        let failures = body["onlyFailures"].flatMap { $0.isNull ? nil : $0 }
        guard let flag = failures.map(\.bool) ?? false else {
            throw .error(.generalBadRequest, message: "onlyFailures must be a boolean")
        }
        onlyFailures = flag
    }

    /// Whether a notification is wanted, whoever it is about; those that nobody has tried to send yet are none.
    func admits(_ notification: SimulatedNotification) -> Bool {
        !notification.attempts.isEmpty && startDate..<endDate ~= notification.signedDate
            && (type ?? notification.draft.type) == notification.draft.type
            && (subtype == nil || subtype == notification.draft.subtype)
            && !(onlyFailures && notification.isDelivered)
    }

    /// The same for the same question.
    var canonicalText: String {
        "\(startDate) \(endDate) \(type?.rawValue ?? "-") \(subtype?.rawValue ?? "-") \(transactionID ?? "-") \(onlyFailures)"
    }

    private static func date(_ value: JSONSlice?, _ error: APIErrorCode) throws(AppleServiceError) -> Int64 {
        guard let date = value?.int64, date >= 0 else { throw .error(error) }
        return date
    }

    private static func text(_ value: JSONSlice?, _ error: APIErrorCode) throws(AppleServiceError) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string?.streamSafe else { throw .error(error) }
        return text
    }
}

/// A place in an answer of Get Notification History, good for the same app and body and for a day.
struct PaginationToken: Sendable {
    /// How long a token is good, in milliseconds; Apple only says that it expires.
    static let lifetime: Int64 = 86_400_000

    let list: String
    /// When it was given out, UNIX milliseconds.
    let date: Int64
    /// The last notification of the page.
    let number: Int

    init(list: String, date: Int64, number: Int) {
        self.list = list
        self.date = date
        self.number = number
    }

    /// Reads a token.
    ///
    /// - Throws: 4000014 unless it is one of this list, 4000017 if it is too old.
    init(_ text: String, of list: String, now: Int64) throws(AppleServiceError) {
        let parts = (Base64URL.decode(text) ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count == 3, String(decoding: parts[2], as: UTF8.self) == list,
            let date = Int64(String(decoding: parts[0], as: UTF8.self)),
            let number = Int(String(decoding: parts[1], as: UTF8.self))
        else { throw .error(.invalidPaginationToken) }
        guard now - date < Self.lifetime else { throw .error(.paginationTokenExpired) }
        self.init(list: list, date: date, number: number)
    }

    var text: String { Base64URL.encode(Array("\(date) \(number) \(list)".utf8)) }
}

/// What Get Test Notification Status asks by: a UUID and the time of the request in UNIX seconds.
enum TestNotificationToken {
    /// How long Apple knows a test, in milliseconds: six months.
    static let lifetime: Int64 = 183 * 86_400_000

    static func text(_ uuid: String, now: Int64) -> String { "\(uuid)_\(now / 1000)" }

    /// Whether a text has the form of a token.
    static func isWellFormed(_ text: String) -> Bool {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && UUID(uuidString: String(parts[0])) != nil && Int64(parts[1]) != nil
    }
}
