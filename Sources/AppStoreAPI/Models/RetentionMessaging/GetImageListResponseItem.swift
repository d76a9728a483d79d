package import JSON

/// One image of the app and its review.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getimagelistresponseitem
package struct GetImageListResponseItem: WireModel {
    /// The UUID under which it was uploaded.
    package var imageIdentifier: String?
    package var imageState: ImageState?
    package var imageSize: ImageSize?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetImageListResponseItem>] = [
        .init("imageIdentifier", \.imageIdentifier),
        .init("imageState", \.imageState),
        .init("imageSize", \.imageSize),
    ]
}
