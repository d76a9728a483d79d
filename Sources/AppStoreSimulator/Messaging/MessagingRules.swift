import AppStoreAPI
import Foundation
import JSON

/// What Apple demands of images, messages, locales and URLs.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging
enum MessagingRules {
    private static let longestHeader = 66
    private static let longestBody = 144
    private static let longestBulletText = 66
    private static let longestAltText = 150
    private static let mostBulletPoints = 5
    private static let longestURL = 256
    private static let fullWidth: UInt32 = 3840
    private static let fullHeights: ClosedRange<UInt32> = 160...2160

    /// A UUID in lower case.
    static func identifier(_ text: String, _ settings: MessagingSettings) throws(Refusal) -> String {
        guard UUID(uuidString: text) != nil, !settings.requiresLowercaseIdentifiers || text == text.lowercased() else {
            throw .error(.generalBadRequest, message: "The identifier must be a UUID in lower case")
        }
        return text.lowercased()
    }

    /// The size that a query names; full unless it does.
    static func imageSize(_ query: [QueryItem]) throws(Refusal) -> ImageSize {
        let values = query.filter { $0.name == "imageSize" }.map { ImageSize(rawValue: $0.value) }
        guard values.count <= 1, values.allSatisfy(\.isKnown) else { throw .error(.badRequestImageSize) }
        return values.first ?? .fullSize
    }

    /// Checks an image file; for bullet points Apple publishes no dimensions.
    static func check(image bytes: [UInt8], of size: ImageSize) throws(Refusal) {
        guard let image = PNGImage(bytes) else { throw .error(.invalidImage, message: "It is not a whole PNG file") }
        guard !image.hasTransparency else { throw .error(.invalidImage, message: "It has transparency") }
        guard size != .fullSize || (image.width == fullWidth && fullHeights.contains(image.height)) else {
            throw .error(.invalidImage, message: "It must be 3840 pixels wide and 160 to 2160 high")
        }
    }

    /// Checks the texts of a message.
    static func check(_ message: UploadMessageRequestBody) throws(Refusal) {
        guard let header = message.header, let body = message.body, !header.isEmpty, !body.isEmpty else {
            throw .error(.generalBadRequest, message: "A message needs header and body")
        }
        guard header.count <= longestHeader else { throw .error(.headerTooLong) }
        guard body.count <= longestBody else { throw .error(.bodyTooLong) }
        guard message.headerPosition?.isKnown ?? true else {
            throw .error(.generalBadRequest, message: "headerPosition must be ABOVE_BODY or ABOVE_IMAGE")
        }
        guard message.headerPosition != .aboveImage || message.image != nil else {
            throw .error(.badRequestAboveImageRequiresAnImage)
        }
        if let image = message.image { try check(image.imageIdentifier, altText: image.altText) }
        let points = message.bulletPoints ?? []
        guard points.count <= mostBulletPoints else { throw .error(.badRequestTooManyBulletPoints) }
        for point in points {
            guard let text = point.text else {
                throw .error(.generalBadRequest, message: "A bullet point needs a text")
            }
            guard text.count <= longestBulletText else { throw .error(.badRequestBulletPointTextTooLong) }
            try check(point.imageIdentifier, altText: point.altText)
        }
    }

    private static func check(_ image: String?, altText: String?) throws(Refusal) {
        guard let image, UUID(uuidString: image) != nil, let altText else {
            throw .error(.generalBadRequest, message: "An image needs imageIdentifier and altText")
        }
        guard altText.count <= longestAltText else { throw .error(.altTextTooLong) }
    }

    /// A product and a locale such as `en-US`.
    static func place(_ productID: String, _ locale: String) throws(Refusal) -> MessagingCatalogue.Place {
        let parts = locale.split(separator: "-", omittingEmptySubsequences: false)
        let isLanguage =
            parts.first.map { 2...3 ~= $0.count && $0.allSatisfy { $0.isASCII && $0.isLowercase } } ?? false
        let isRest = parts.dropFirst().allSatisfy { part in
            2...8 ~= part.count && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
        guard isLanguage, isRest else { throw .error(.invalidLocale) }
        return MessagingCatalogue.Place(productID: productID, locale: locale)
    }

    /// An absolute URL with TLS.
    static func realtimeURL(_ text: String?, _ settings: MessagingSettings) throws(Refusal) -> String {
        guard let text, text.count <= longestURL, let url = NotificationURL(text),
            url.isEncrypted || settings.allowsPlainRealtimeURLs
        else { throw .error(.badRequestRealtimeURL) }
        return text
    }
}
