package import Foundation

/// What remains of a chain that was verified: whom it makes trustworthy, and for how long.
package struct VerifiedChain: Sendable {
    /// The key that the chain vouches for.
    package let leafPublicKey: ECPublicKey
    /// The time in which all three certificates are valid.
    ///
    /// The end is excluded, as libcrypto has it.
    package let validity: Range<Date>

    /// A chain as verified.
    package init(leafPublicKey: ECPublicKey, validity: Range<Date>) {
        self.leafPublicKey = leafPublicKey
        self.validity = validity
    }
}
