/// When calls may be made again after a 429.
///
/// Apple's `Retry-After` is neither a number of seconds nor an HTTP date, but an absolute UNIX time in milliseconds.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
package struct RetryAfter: Sendable, Hashable {
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// Reads the header's value.
    ///
    /// - Parameter headerValue: decimal digits; white space around them is allowed (RFC 9110 section 5.5). Anything else gives nil.
    package init?(headerValue: String) {
        let digits = headerValue.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank).reversed()
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let milliseconds = Int64(String(digits)) else {
            return nil
        }
        self.init(millisecondsSince1970: milliseconds)
    }

    /// What the header carries.
    package var headerValue: String { String(millisecondsSince1970) }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
