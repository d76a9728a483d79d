package import JSON

/// One line of a message's list, with an image in front.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/bulletpoint
package struct BulletPoint: WireModel {
    /// At most 66 characters.
    package var text: String?
    /// A UUID under which an image was uploaded.
    package var imageIdentifier: String?
    /// At most 150 characters.
    package var altText: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<BulletPoint>] = [
        .init("text", \.text, isRequired: true),
        .init("imageIdentifier", \.imageIdentifier, isRequired: true),
        .init("altText", \.altText, isRequired: true),
    ]
}
