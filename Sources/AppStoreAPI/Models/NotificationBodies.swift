// The bodies of the calls for notifications: their history, and the test notification.

package import JSON

/// The body of Get Notification History; the same for each page.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest
package struct NotificationHistoryRequest: WireModel {
    /// UNIX milliseconds, before `endDate`; at most 180 days ago, 30 in the sandbox.
    package var startDate: Int64?
    /// UNIX milliseconds; a time to come counts as now.
    package var endDate: Int64?
    /// Not together with `transactionId`.
    package var notificationType: NotificationTypeV2?
    /// Only with a `notificationType` that has it.
    package var notificationSubtype: Subtype?
    /// Any transaction of one customer; not together with `notificationType`.
    package var transactionId: String?
    /// True for those that have not reached the server, the ones that Apple still retries among them.
    package var onlyFailures: Bool?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationHistoryRequest>] = [
        .init("startDate", \.startDate, isRequired: true),
        .init("endDate", \.endDate, isRequired: true),
        .init("notificationType", \.notificationType),
        .init("notificationSubtype", \.notificationSubtype),
        .init("transactionId", \.transactionId),
        .init("onlyFailures", \.onlyFailures),
    ]
}

/// One page of Get Notification History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse
package struct NotificationHistoryResponse: WireModel {
    /// Asks for the next page.
    package var paginationToken: String?
    package var hasMore: Bool?
    /// 20 at most.
    package var notificationHistory: [NotificationHistoryResponseItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationHistoryResponse>] = [
        .init("paginationToken", \.paginationToken),
        .init("hasMore", \.hasMore),
        .init("notificationHistory", \.notificationHistory),
    ]
}

/// One notification and how its delivery went.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem
package struct NotificationHistoryResponseItem: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload``.
    package var signedPayload: String?
    /// 6 at most: the first and five repetitions.
    package var sendAttempts: [SendAttemptItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationHistoryResponseItem>] = [
        .init("signedPayload", \.signedPayload),
        .init("sendAttempts", \.sendAttempts),
    ]
}

/// One attempt to deliver a notification.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendattemptitem
package struct SendAttemptItem: WireModel {
    /// UNIX milliseconds.
    package var attemptDate: Int64?
    package var sendAttemptResult: SendAttemptResult?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SendAttemptItem>] = [
        .init("attemptDate", \.attemptDate),
        .init("sendAttemptResult", \.sendAttemptResult),
    ]
}

/// How an attempt to deliver a notification ended.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
package struct SendAttemptResult: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let success = SendAttemptResult(rawValue: "SUCCESS")
    package static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
    package static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
    package static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
    package static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
    package static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
    package static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
    package static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
    package static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
    package static let unsuccessfulHTTPResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    package static let other = SendAttemptResult(rawValue: "OTHER")

    package static let known = [
        success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue, unsupportedCharset, invalidResponse,
        prematureClose, unsuccessfulHTTPResponseCode, other,
    ]
}

/// The answer of Request a Test Notification.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse
package struct SendTestNotificationResponse: WireModel {
    /// Asks for the status of the test, for six months at most.
    package var testNotificationToken: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SendTestNotificationResponse>] = [
        .init("testNotificationToken", \.testNotificationToken)
    ]
}

/// The answer of Get Test Notification Status.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/checktestnotificationresponse
package struct CheckTestNotificationResponse: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload`` of the type `TEST`.
    package var signedPayload: String?
    /// 6 at most: the first and five repetitions.
    package var sendAttempts: [SendAttemptItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<CheckTestNotificationResponse>] = [
        .init("signedPayload", \.signedPayload),
        .init("sendAttempts", \.sendAttempts),
    ]
}
