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
