package import JSON

/// The body of an answer that is not a success.
///
/// A 401 has no such body, and neither may answers that come from a machine in between.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
package struct ErrorPayload: Sendable, Hashable {
    package let errorCode: Int64?
    package let errorMessage: String?

    package init(errorCode: Int64?, errorMessage: String?) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }

    /// Reads a body.
    ///
    /// - Throws: ``JSONError`` if the body is not one JSON object.
    package init(parsing body: [UInt8]) throws(JSONError) {
        let members = try JSONScanner.members(of: body)
        self.init(errorCode: members["errorCode"]?.int64, errorMessage: members["errorMessage"]?.string)
    }

    /// The body.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.memberIfPresent("errorCode", errorCode)
            writer.memberIfPresent("errorMessage", errorMessage)
        }
        return writer.bytes
    }
}
