package import Foundation

/// A bearer token for Apple.
///
/// Its value never enters a log, an error or a description.
package struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The compact JWT, for the `Authorization` header alone.
    package let value: String
    /// The key that signed it.
    package let keyID: String
    /// Counts the mints of this process; tells apart the token that Apple refused from the one minted since.
    package let generation: UInt64
    /// The token's `iat`, by our clock.
    package let issuedAt: Date
    /// The token's `exp`, by our clock.
    package let expiresAt: Date

    package init(value: String, keyID: String, generation: UInt64, issuedAt: Date, expiresAt: Date) {
        self.value = value
        self.keyID = keyID
        self.generation = generation
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    package var description: String { "BearerToken(keyID: \(keyID), generation: \(generation))" }
    package var debugDescription: String { description }
}
