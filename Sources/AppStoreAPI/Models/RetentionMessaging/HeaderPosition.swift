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
