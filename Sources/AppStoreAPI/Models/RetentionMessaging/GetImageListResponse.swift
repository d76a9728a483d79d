package import JSON

/// The answer of Get Image List.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getimagelistresponse
package struct GetImageListResponse: WireModel {
    package var imageIdentifiers: [GetImageListResponseItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetImageListResponse>] = [
        .init("imageIdentifiers", \.imageIdentifiers)
    ]
}
