package import AppStoreAPI

/// Something that goes wrong on purpose, and with which calls.
package struct Fault: Sendable, Hashable {
    /// What goes wrong.
    package enum Effect: Sendable, Hashable {
        /// An answer without work done: with a number Apple's error body, with 401 Apple's plain text, otherwise a line of text as
        /// load balancers send. `retryAfter` is the header's value as it is.
        case status(Int, errorCode: Int64? = nil, errorMessage: String? = nil, retryAfter: String? = nil)
        /// The answer comes later.
        case latency(milliseconds: Int)
        /// The connection is reset, before the call is looked at or after it is done; only the client cannot tell.
        case connectionReset(afterProcessing: Bool = false)
        /// A success whose body is random bytes.
        case garbage
        /// The body ends half way, and the connection with it.
        case truncatedBody
        /// The server's clock is wrong: in the `Date` header and when it looks at tokens.
        case clockSkew(seconds: Int)
        /// The transactions are signed as Apple never would.
        case tampering(Tampering)
    }

    package var effect: Effect
    /// Nil for every environment.
    package var environment: SimulatedEnvironment?
    /// Nil for every endpoint.
    package var operation: Endpoint.Operation?
    /// Nil for every app; compared with the token's `bid`, whether the token is good or not.
    package var bundleID: String?
    /// How many matching calls go by unharmed at first.
    package var skip: Int
    /// How many calls are hit; nil for all.
    package var count: Int?
    /// How likely a matching call is to be hit, 0 to 1.
    package var probability: Double

    package init(
        _ effect: Effect, environment: SimulatedEnvironment? = nil, operation: Endpoint.Operation? = nil,
        bundleID: String? = nil, skip: Int = 0, count: Int? = nil, probability: Double = 1
    ) {
        self.effect = effect
        self.environment = environment
        self.operation = operation
        self.bundleID = bundleID
        self.skip = skip
        self.count = count
        self.probability = probability
    }
}

extension Fault.Effect {
    /// The name on the control port.
    package var name: String {
        switch self {
        case .status: "status"
        case .latency: "latency"
        case .connectionReset: "connectionReset"
        case .garbage: "garbage"
        case .truncatedBody: "truncatedBody"
        case .clockSkew: "clockSkew"
        case .tampering(let tampering): tampering.rawValue
        }
    }
}

/// A way to sign a transaction that no client may accept.
package enum Tampering: String, Sendable, Hashable, CaseIterable {
    /// The leaf had expired a year before the signing date.
    case expiredCertificate
    /// The chain is sound but ends in another root, which it brings along.
    case foreignRoot
    /// The leaf lacks Apple's marker extension.
    case missingLeafExtension
    /// The intermediate lacks Apple's marker extension.
    case missingIntermediateExtension
    /// One bit of the signature is turned.
    case wrongSignature
    /// The transaction names another app.
    case wrongBundleId
    /// The transaction names the other environment.
    case wrongEnvironment
}
