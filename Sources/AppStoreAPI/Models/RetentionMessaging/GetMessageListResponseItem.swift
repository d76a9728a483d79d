package import JSON

/// One message of the app and its review.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponseitem
package struct GetMessageListResponseItem: WireModel {
    /// The UUID under which it was uploaded.
    package var messageIdentifier: String?
    package var messageState: MessageState?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetMessageListResponseItem>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("messageState", \.messageState),
    ]
}
