package import JSON

/// One page of Get Notification History.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse
package struct NotificationHistoryResponse: WireModel {
    /// Asks for the next page.
    package var paginationToken: String?
    package var hasMore: Bool?
    /// 20 at most.
    package var notificationHistory: [NotificationHistoryResponseItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationHistoryResponse>] = [
        .init("paginationToken", \.paginationToken),
        .init("hasMore", \.hasMore),
        .init("notificationHistory", \.notificationHistory),
    ]
}
