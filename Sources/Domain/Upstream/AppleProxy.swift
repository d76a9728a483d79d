/// Passes calls of programs written for Apple's API on to Apple, with our token in place of theirs.
package protocol AppleProxy: Sendable {
    /// Which of Apple's calls a request means.
    ///
    /// - Parameters:
    ///   - method: the HTTP method, in capitals.
    ///   - path: the path without query, percent-encoded.
    /// - Returns: the call, or why there is none.
    func match(method: String, path: String) -> AppleProxyMatch

    /// Makes one call and returns Apple's answer as it came.
    ///
    /// Budget, retries, breaker and token refresh apply as to our own calls.
    ///
    /// - Parameters:
    ///   - request: a request that `match` found a call for.
    ///   - call: for whom; its environment must be given.
    /// - Returns: Apple's answer, success or not, byte for byte.
    /// - Throws: `ServiceError` when there is no answer of Apple's to pass on: `budgetExhausted`, `keyUnavailable`,
    ///   `appleUnavailable`, `appleUnauthorized`, `noProductionRelease`, `outcomeUnknown`, `deadlineExceeded`.
    func forward(_ request: AppleProxyRequest, _ call: UpstreamCall) async throws(ServiceError) -> AppleProxyResponse
}

/// What a method and a path mean to Apple.
package enum AppleProxyMatch: Sendable, Equatable {
    case found(AppleProxyCall)
    /// The path is right, the method is not.
    case otherMethod(allowed: [String])
    case unknown
}

/// One of Apple's calls, as far as access and the one way out for consumption are concerned.
package struct AppleProxyCall: Sendable, Equatable {
    /// How a call is answered.
    package enum Kind: Sendable, Equatable {
        /// Passed on as it is.
        case forwarded
        /// Passed on as it is; its body is an image, larger than any JSON.
        case imageUpload
        /// Passed on as it is; the token that Apple accepts is remembered.
        case appAccountToken(originalTransactionID: String)
        /// Consumption information, which has one way out whatever door it came in by.
        case consumption(DeliveryVersion, transactionID: String)
    }

    /// The title of Apple's page for the call, such as `Get Refund History`.
    package let name: String
    /// What a caller needs for it.
    package let scope: Scope
    package let kind: Kind

    package init(name: String, scope: Scope, kind: Kind) {
        self.name = name
        self.scope = scope
        self.kind = kind
    }
}

/// A call for Apple as a program made it, without its token.
package struct AppleProxyRequest: Sendable, Equatable {
    /// The HTTP method, in capitals.
    package let method: String
    /// The path, percent-encoded, as it came.
    package let path: String
    /// The query without question mark, as it came.
    package let query: String?
    /// Such as `application/json` or `image/png`.
    package let contentType: String?
    /// Nil when the request has none.
    package let body: [UInt8]?

    package init(method: String, path: String, query: String?, contentType: String?, body: [UInt8]?) {
        self.method = method
        self.path = path
        self.query = query
        self.contentType = contentType
        self.body = body
    }
}

/// An answer of Apple's, for the program that asked.
package struct AppleProxyResponse: Sendable, Equatable {
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
