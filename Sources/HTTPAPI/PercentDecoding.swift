import Foundation

/// Undoes percent-encoding (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The text that was encoded; nil when that is not valid UTF-8.
    static func decode(_ text: Substring) -> String? {
        // Nearly all texts are as they are.
        text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
    }
}
