// The bodies of Retention Messaging's calls for messages, for their images and for the default message of a product.

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
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UploadMessageRequestBody>] = [
        .init("header", \.header, isRequired: true),
        .init("body", \.body, isRequired: true),
        .init("image", \.image),
        .init("headerPosition", \.headerPosition),
        .init("bulletPoints", \.bulletPoints),
    ]
}

/// Where a message shows its header.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/headerposition
package struct HeaderPosition: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let aboveBody = HeaderPosition(rawValue: "ABOVE_BODY")
    /// Only in a message with an image.
    package static let aboveImage = HeaderPosition(rawValue: "ABOVE_IMAGE")

    package static let known = [aboveBody, aboveImage]
}

/// The image of a message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/uploadmessageimage
package struct UploadMessageImage: WireModel {
    /// A UUID under which an image was uploaded.
    package var imageIdentifier: String?
    /// At most 150 characters.
    package var altText: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UploadMessageImage>] = [
        .init("imageIdentifier", \.imageIdentifier, isRequired: true),
        .init("altText", \.altText, isRequired: true),
    ]
}

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
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<BulletPoint>] = [
        .init("text", \.text, isRequired: true),
        .init("imageIdentifier", \.imageIdentifier, isRequired: true),
        .init("altText", \.altText, isRequired: true),
    ]
}

/// The answer of Get Message List.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponse
package struct GetMessageListResponse: WireModel {
    package var messageIdentifiers: [GetMessageListResponseItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetMessageListResponse>] = [
        .init("messageIdentifiers", \.messageIdentifiers)
    ]
}

/// One message of the app and its review.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponseitem
package struct GetMessageListResponseItem: WireModel {
    /// The UUID under which it was uploaded.
    package var messageIdentifier: String?
    package var messageState: MessageState?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetMessageListResponseItem>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("messageState", \.messageState),
    ]
}

/// How the review of a message stands.
///
/// Apple's libraries disagree on the name of the first state, so that either may come.
/// Source: https://developer.apple.com/documentation/retentionmessaging/messagestate
package struct MessageState: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let pending = MessageState(rawValue: "PENDING")
    /// Another name of `PENDING`.
    package static let pendingReview = MessageState(rawValue: "PENDING_REVIEW")
    package static let approved = MessageState(rawValue: "APPROVED")
    package static let rejected = MessageState(rawValue: "REJECTED")

    package static let known = [pending, pendingReview, approved, rejected]
}

/// The body of Configure Default Message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/defaultconfigurationrequest
package struct DefaultConfigurationRequest: WireModel {
    /// The UUID of an approved message.
    package var messageIdentifier: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<DefaultConfigurationRequest>] = [
        .init("messageIdentifier", \.messageIdentifier)
    ]
}

/// The answer of Get Default Message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/defaultconfigurationresponse
package struct DefaultConfigurationResponse: WireModel {
    /// The UUID of a message.
    package var messageIdentifier: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<DefaultConfigurationResponse>] = [
        .init("messageIdentifier", \.messageIdentifier, isRequired: true)
    ]
}

/// Where an image can be shown.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/imagesize
package struct ImageSize: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let fullSize = ImageSize(rawValue: "FULL_SIZE")
    package static let bulletPoint = ImageSize(rawValue: "BULLET_POINT")

    package static let known = [fullSize, bulletPoint]
}

/// The answer of Get Image List.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getimagelistresponse
package struct GetImageListResponse: WireModel {
    package var imageIdentifiers: [GetImageListResponseItem]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetImageListResponse>] = [
        .init("imageIdentifiers", \.imageIdentifiers)
    ]
}

/// One image of the app and its review.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/getimagelistresponseitem
package struct GetImageListResponseItem: WireModel {
    /// The UUID under which it was uploaded.
    package var imageIdentifier: String?
    package var imageState: ImageState?
    package var imageSize: ImageSize?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<GetImageListResponseItem>] = [
        .init("imageIdentifier", \.imageIdentifier),
        .init("imageState", \.imageState),
        .init("imageSize", \.imageSize),
    ]
}

/// How the review of an image stands.
///
/// Apple's libraries disagree on the name of the first state, so that either may come.
/// Source: https://developer.apple.com/documentation/retentionmessaging/imagestate
package struct ImageState: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let pending = ImageState(rawValue: "PENDING")
    /// Another name of `PENDING`.
    package static let pendingReview = ImageState(rawValue: "PENDING_REVIEW")
    package static let approved = ImageState(rawValue: "APPROVED")
    package static let rejected = ImageState(rawValue: "REJECTED")

    package static let known = [pending, pendingReview, approved, rejected]
}
