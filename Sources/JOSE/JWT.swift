package import OpenSSL

/// JWTs as compact JWS (RFC 7519).
package enum JWT {
    /// Signs claims with ES256.
    ///
    /// - Parameters:
    ///   - claims: The payload.
    ///   - keyID: `kid`, by which the reader finds the key.
    ///   - key: The signer's key.
    /// - Returns: The token.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func sign(
        _ claims: JWTClaims, keyID: String?, with key: ECPrivateKey
    ) throws(OpenSSLError) -> String {
        try CompactJWS.sign(claims.payload, header: JOSEHeader(keyID: keyID, type: "JWT"), with: key)
    }
}
