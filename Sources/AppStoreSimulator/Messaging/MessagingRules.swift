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
    static func identifier(_ text: String, _ settings: MessagingSettings) throws(AppleServiceError) -> String {
        guard UUID(uuidString: text) != nil, !settings.requiresLowercaseIdentifiers || text == text.lowercased() else {
            throw .error(.generalBadRequest, message: "The identifier must be a UUID in lower case")
        }
        return text.lowercased()
    }

    /// The size that a query names; full unless it does.
    static func imageSize(_ query: [QueryItem]) throws(AppleServiceError) -> ImageSize {
        let values = query.filter { $0.name == "imageSize" }.map { ImageSize(rawValue: $0.value) }
        guard values.count <= 1, values.allSatisfy(\.isKnown) else { throw .error(.badRequestImageSize) }
        return values.first ?? .fullSize
    }

    /// Checks an image file; for bullet points Apple publishes no dimensions.
    static func check(image bytes: [UInt8], of size: ImageSize) throws(AppleServiceError) {
        guard let image = PNGImage(bytes) else { throw .error(.invalidImage, message: "It is not a whole PNG file") }
        guard !image.hasTransparency else { throw .error(.invalidImage, message: "It has transparency") }
        guard size != .fullSize || (image.width == fullWidth && fullHeights.contains(image.height)) else {
            throw .error(.invalidImage, message: "It must be 3840 pixels wide and 160 to 2160 high")
        }
    }

    /// Checks the texts of a message.
    static func check(_ message: UploadMessageRequestBody) throws(AppleServiceError) {
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

    private static func check(_ image: String?, altText: String?) throws(AppleServiceError) {
        guard let image, UUID(uuidString: image) != nil, let altText else {
            throw .error(.generalBadRequest, message: "An image needs imageIdentifier and altText")
        }
        guard altText.count <= longestAltText else { throw .error(.altTextTooLong) }
    }

    /// A product and a locale such as `en-US`.
    static func place(_ productID: String, _ locale: String) throws(AppleServiceError) -> MessagingCatalogue.Place {
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
    static func realtimeURL(_ text: String?, _ settings: MessagingSettings) throws(AppleServiceError) -> String {
        guard let text, text.count <= longestURL, let url = NotificationURL(text),
            url.isEncrypted || settings.allowsPlainRealtimeURLs
        else { throw .error(.badRequestRealtimeURL) }
        return text
    }
}

/// What the bytes of a PNG file tell about the picture; the pixels themselves are not decoded.
///
/// Source: https://www.w3.org/TR/png-3/
struct PNGImage: Sendable, Equatable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// Colour types without an alpha channel, with the depths that each may have.
    private static let depths: [UInt8: Set<UInt8>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    /// In pixels.
    let width: UInt32
    /// In pixels.
    let height: UInt32
    /// Whether a pixel can be transparent: by an alpha channel or a transparent colour.
    let hasTransparency: Bool

    /// Reads a file; nil unless all of its chunks are whole and where they belong.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.signature), let chunks = Self.chunks(bytes[Self.signature.count...]),
            let header = chunks.first, header.type == "IHDR", header.data.count == 13,
            let end = chunks.last, end.type == "IEND", end.data.isEmpty
        else { return nil }
        let fields = Array(header.data)
        (width, height) = (Self.integer(fields[0..<4]), Self.integer(fields[4..<8]))
        let (depth, colourType) = (fields[8], fields[9])
        guard 1...UInt32(Int32.max) ~= width, 1...UInt32(Int32.max) ~= height,
            Self.depths[colourType]?.contains(depth) ?? false, fields[10] == 0, fields[11] == 0, fields[12] <= 1
        else { return nil }
        let types = chunks.map(\.type)
        guard types.contains("IDAT"), colourType != 3 || types.contains("PLTE"),
            types.count(where: { $0 == "IHDR" }) == 1, types.count(where: { $0 == "IEND" }) == 1
        else { return nil }
        hasTransparency = colourType == 4 || colourType == 6 || types.contains("tRNS")
    }

    private struct Chunk {
        let type: String
        let data: ArraySlice<UInt8>
    }

    /// Takes the chunks apart and checks their sums.
    private static func chunks(_ bytes: ArraySlice<UInt8>) -> [Chunk]? {
        var chunks: [Chunk] = []
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 12 else { return nil }
            let length = Int(integer(rest.prefix(4)))
            guard length <= rest.count - 12 else { return nil }
            let checked = rest.dropFirst(4).prefix(4 + length)
            guard CRC32.checksum(checked) == integer(rest.dropFirst(8 + length).prefix(4)) else { return nil }
            chunks.append(Chunk(type: String(decoding: checked.prefix(4), as: UTF8.self), data: checked.dropFirst(4)))
            rest = rest.dropFirst(12 + length)
        }
        return chunks
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The checksum of PNG chunks (ISO 3309).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        var value = UInt32(index)
        for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
        return value
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8) }
        return ~sum
    }
}
