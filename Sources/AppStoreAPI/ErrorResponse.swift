// What comes with an answer that is no success: Apple's error body, and the header that says when to come back after a
// 429.

package import JSON

/// The body of an answer that is not a success.
///
/// A 401 has no such body, and neither may answers that come from a machine in between.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
package struct ErrorPayload: WireModel {
    /// An ``APIErrorCode/code``, or one that is not known here.
    package var errorCode: Int64?
    package var errorMessage: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ErrorPayload>] = [
        .init("errorCode", \.errorCode),
        .init("errorMessage", \.errorMessage),
    ]

    package init(errorCode: Int64?, errorMessage: String?) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }
}

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
