package import OpenSSL

/// An In-App Purchase key as Apple knows it: the public half, and whose it is.
package struct RegisteredKey: Sendable {
    /// `kid` of the tokens that it signs.
    package let keyID: String
    /// `iss` of the tokens that it signs: the team.
    package let issuerID: String
    package let publicKey: ECPublicKey
    /// A revoked key stays known by its id, but signs nothing any more.
    package var isRevoked = false
}
