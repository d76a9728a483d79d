package import JSON

/// A realtime answer that shows a message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/message
package struct RetentionMessage: WireModel {
    /// The UUID of an approved message.
    package var messageIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RetentionMessage>] = [
        .init("messageIdentifier", \.messageIdentifier)
    ]
}
