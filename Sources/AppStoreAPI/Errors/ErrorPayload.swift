package import JSON

/// The body of an answer that is not a success.
///
/// A 401 has no such body, and neither may answers that come from a machine in between.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
package struct ErrorPayload: WireModel {
    /// An ``APIErrorCode/code``, or one that is not known here.
    package var errorCode: Int64?
    package var errorMessage: String?
    package var additional: [String: JSONValue] = [:]

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
