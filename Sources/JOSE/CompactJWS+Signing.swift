package import OpenSSL

extension CompactJWS {
    /// Signs a payload with ES256.
    ///
    /// - Parameters:
    ///   - payload: The bytes to sign, mostly JSON.
    ///   - header: What the token's header is to say.
    ///   - key: The signer's key.
    /// - Returns: The token.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func sign(
        _ payload: [UInt8], header: JOSEHeader, with key: ECPrivateKey
    ) throws(OpenSSLError) -> String {
        var token = header.rawSegment
        token.append(dot)
        token.append(contentsOf: Base64URL.encodeBytes(payload))
        let signature = try key.signature(for: token.span)
        token.append(dot)
        token.append(contentsOf: Base64URL.encodeBytes(signature))
        return String(decoding: token, as: UTF8.self)
    }
}
