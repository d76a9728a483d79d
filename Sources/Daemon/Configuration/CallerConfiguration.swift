package import Domain

/// An internal service that may call the API, and how it proves who it is.
package struct CallerConfiguration: Sendable, Equatable {
    package let caller: Caller
    /// The SHA-256 digest (32 bytes) of its bearer token.
    package let tokenDigest: [UInt8]
    /// How many calls to Apple it may cause about one app in any hour; nil for as many as its share of Apple's limits.
    package let callsPerHour: Int?

    package init(caller: Caller, tokenDigest: [UInt8], callsPerHour: Int? = nil) {
        self.caller = caller
        self.tokenDigest = tokenDigest
        self.callsPerHour = callsPerHour
    }
}
