import Foundation
import JOSE
import JSON
import OpenSSL

/// The token that Apple wants.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
enum TokenFormat {
    static let audience = "appstoreconnect-v1"

    /// - Throws: `OpenSSLError`.
    static func sign(
        _ key: KeyRing.Key, bundleID: String, issuedAt: Date, expiresAt: Date
    ) throws(OpenSSLError) -> String {
        let claims = JWTClaims(
            issuer: key.declaration.issuerID, audience: [audience], issuedAt: issuedAt, expiresAt: expiresAt,
            others: ["bid": .string(bundleID)])
        return try JWT.sign(claims, keyID: key.declaration.keyID, with: key.privateKey)
    }
}
