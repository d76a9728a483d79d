package import Foundation

/// A JWT that a caller signed with its key, taken apart; nothing in it is to be believed before it has been checked.
///
/// Source: RFC 7519; https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
package struct CallerToken: Sendable {
    /// `kid`.
    package var keyID: String?
    /// `typ`.
    package var type: String?
    /// `iss`.
    package var issuer: String?
    /// `aud`; empty when it is absent.
    package var audience: [String] = []
    /// `iat`.
    package var issuedAt: Date?
    /// `nbf`.
    package var notBefore: Date?
    /// `exp`.
    package var expiresAt: Date?
    /// `bid`.
    package var bundleID: String?
    /// Whether the owner of a key (SubjectPublicKeyInfo in DER) signed it with ES256.
    package var isSigned: @Sendable (_ publicKey: [UInt8]) -> Bool

    package init(isSigned: @escaping @Sendable (_ publicKey: [UInt8]) -> Bool) { self.isSigned = isSigned }
}
