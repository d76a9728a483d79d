package import JSON

/// The body of Upload Message: what is shown to a customer who is about to cancel.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/uploadmessagerequestbody
package struct UploadMessageRequestBody: WireModel {
    /// At most 66 characters.
    package var header: String?
    /// At most 144 characters.
    package var body: String?
    package var image: UploadMessageImage?
    /// Above the body, unless it says otherwise.
    package var headerPosition: HeaderPosition?
    /// 5 at most.
    package var bulletPoints: [BulletPoint]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UploadMessageRequestBody>] = [
        .init("header", \.header, isRequired: true),
        .init("body", \.body, isRequired: true),
        .init("image", \.image),
        .init("headerPosition", \.headerPosition),
        .init("bulletPoints", \.bulletPoints),
    ]
}
