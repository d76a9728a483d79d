package import Domain

/// An internal service that may call the API, and how it proves who it is.
package struct CallerConfiguration: Sendable, Equatable {
    package let caller: Caller
    /// The SHA-256 digest (32 bytes) of its bearer token.
    package let tokenDigest: [UInt8]

    package init(caller: Caller, tokenDigest: [UInt8]) {
        self.caller = caller
        self.tokenDigest = tokenDigest
    }
}
