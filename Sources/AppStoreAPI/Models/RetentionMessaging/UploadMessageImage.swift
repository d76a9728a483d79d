package import JSON

/// The image of a message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/uploadmessageimage
package struct UploadMessageImage: WireModel {
    /// A UUID under which an image was uploaded.
    package var imageIdentifier: String?
    /// At most 150 characters.
    package var altText: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UploadMessageImage>] = [
        .init("imageIdentifier", \.imageIdentifier, isRequired: true),
        .init("altText", \.altText, isRequired: true),
    ]
}
