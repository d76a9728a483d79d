package import JSON

/// One attempt to deliver a notification.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendattemptitem
package struct SendAttemptItem: WireModel {
    /// UNIX milliseconds.
    package var attemptDate: Int64?
    package var sendAttemptResult: SendAttemptResult?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SendAttemptItem>] = [
        .init("attemptDate", \.attemptDate),
        .init("sendAttemptResult", \.sendAttemptResult),
    ]
}
