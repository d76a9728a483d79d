package import JSON

/// The body of Configure Default Message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/defaultconfigurationrequest
package struct DefaultConfigurationRequest: WireModel {
    /// The UUID of an approved message.
    package var messageIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<DefaultConfigurationRequest>] = [
        .init("messageIdentifier", \.messageIdentifier)
    ]
}
