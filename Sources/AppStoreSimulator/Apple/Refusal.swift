import AppStoreAPI

/// Why the App Store does not do what was asked.
enum Refusal: Error, Sendable, Equatable {
    /// The token is not accepted; the caller is not told why, the control port is.
    case unauthenticated(TokenFault)
    /// One of Apple's errors, with a message of its own if the name says too little.
    case error(APIErrorCode, message: String? = nil)
    /// The rate is exceeded until a time in UNIX milliseconds.
    case rateLimited(until: Int64)
    /// A request so wrong that it gets a status without one of Apple's numbers.
    case malformed(status: Int, String)
}
