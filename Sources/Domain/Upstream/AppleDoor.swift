/// Passes calls of programs written for Apple's API on to Apple, with our token in place of theirs.
package protocol AppleDoor: Sendable {
    /// Makes one call and returns Apple's answer as it came.
    ///
    /// Budget, retries, breaker and token refresh apply as to our own calls.
    ///
    /// - Returns: Apple's answer, success or not, byte for byte.
    /// - Throws: `ServiceError` when there is no answer of Apple's to pass on: `budgetExhausted`, `keyUnavailable`,
    ///   `appleUnavailable`, `appleUnauthorized`, `outcomeUnknown`, `deadlineExceeded`.
    func forward(_ request: DoorRequest, _ call: UpstreamCall) async throws(ServiceError) -> DoorAnswer
}

/// A call for Apple as a program made it, without its token.
package struct DoorRequest: Sendable {
    /// The HTTP method, in capitals.
    package let method: String
    /// The path, percent-encoded, as it came.
    package let path: String
    /// The query without question mark, as it came.
    package let query: String?
    /// Such as `application/json` or `image/png`.
    package let contentType: String?
    package let body: [UInt8]

    package init(method: String, path: String, query: String?, contentType: String?, body: [UInt8]) {
        self.method = method
        self.path = path
        self.query = query
        self.contentType = contentType
        self.body = body
    }
}

/// An answer of Apple's, for the program that asked.
package struct DoorAnswer: Sendable {
    package let status: Int
    package let contentType: String?
    /// Apple's `Retry-After`, as it came: UNIX milliseconds.
    package let retryAfter: String?
    package let body: [UInt8]

    package init(status: Int, contentType: String?, retryAfter: String?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.body = body
    }
}
