package import JSON

/// The answer of Get Message List.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponse
package struct GetMessageListResponse: WireModel {
    package var messageIdentifiers: [GetMessageListResponseItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetMessageListResponse>] = [
        .init("messageIdentifiers", \.messageIdentifiers)
    ]
}
