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
    package var additional: [String: JSONValue] = [:]

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
