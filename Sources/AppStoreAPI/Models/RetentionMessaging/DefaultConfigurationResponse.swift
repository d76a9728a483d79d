package import JSON

/// The answer of Get Default Message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/defaultconfigurationresponse
package struct DefaultConfigurationResponse: WireModel {
    /// The UUID of a message.
    package var messageIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<DefaultConfigurationResponse>] = [
        .init("messageIdentifier", \.messageIdentifier, isRequired: true)
    ]
}
