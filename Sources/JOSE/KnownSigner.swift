package import OpenSSL

/// A header that many tokens carry and the key that it leads to, so that what the tokens share is read and digested once.
package struct KnownSigner: Sendable {
    /// The header of all those tokens.
    package let header: JOSEHeader
    /// The key to believe.
    package let key: ECPublicKey
    /// The digest of the header and the dot after it.
    let prefix: SHA256Prefix

    /// A signer whose key has been found trustworthy.
    ///
    /// - Parameters:
    ///   - header: The header.
    ///   - key: The key.
    /// - Throws: ``JOSEError/library(_:)`` only when libcrypto itself fails.
    package init(header: JOSEHeader, key: ECPublicKey) throws(JOSEError) {
        self.header = header
        self.key = key
        do throws(OpenSSLError) {
            prefix = try SHA256Prefix((header.rawSegment + [CompactJWS.dot]).span)
        } catch {
            throw .library(error)
        }
    }
}

extension CompactJWS {
    /// Checks that the signer signed this header and payload with ES256; see ``verify(with:header:)``.
    ///
    /// - Parameter signer: Who must have signed; the token must carry the same header.
    /// - Throws: ``JOSEError``
    package func verify(with signer: KnownSigner) throws(JOSEError) {
        try verify(with: signer.key, header: signer.header) { (token, signedCount) throws(OpenSSLError) in
            try signer.prefix.digest(followedBy: token.extracting((signer.header.rawSegment.count + 1)..<signedCount))
        }
    }
}
