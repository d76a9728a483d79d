import Foundation
package import OpenSSL

/// A JWS in compact form: header, payload and signature in Base64url between dots.
///
/// Making one only finds the parts, so that a cache keyed by ``protectedHeader`` can spare parsing the header. Nothing
/// in it is to be believed before `verify(with:header:)` has returned.
/// Source: RFC 7515, section 7.1.
package struct CompactJWS: Sendable {
    /// The size of a token beyond which it is refused, in bytes, unless the reader says otherwise.
    package static let defaultMaximumCount = 256 * 1024
    /// Length of an ES256 signature in bytes.
    package static let signatureCount = 64
    /// What stands between the parts.
    static let dot = UInt8(ascii: ".")

    private let bytes: [UInt8]
    private let firstDot: Int
    private let secondDot: Int

    /// Finds the parts of a token.
    ///
    /// - Parameters:
    ///   - bytes: The token, nothing around it.
    ///   - maximumCount: The longest token to accept, in bytes.
    /// - Throws: ``JOSEError/tooLarge(maximumCount:)`` or ``JOSEError/malformed``
    package init(_ bytes: [UInt8], maximumCount: Int = defaultMaximumCount) throws(JOSEError) {
        guard bytes.count <= maximumCount else { throw .tooLarge(maximumCount: maximumCount) }
        guard let firstDot = Self.firstDot(in: bytes, from: 0), firstDot > 0,
            let secondDot = Self.firstDot(in: bytes, from: firstDot + 1), secondDot > firstDot + 1,
            secondDot + 1 < bytes.count, Self.firstDot(in: bytes, from: secondDot + 1) == nil
        else { throw .malformed }
        self.bytes = bytes
        self.firstDot = firstDot
        self.secondDot = secondDot
    }

    /// Finds the parts of a token given as text.
    package init(_ text: String, maximumCount: Int = defaultMaximumCount) throws(JOSEError) {
        try self.init(Array(text.utf8), maximumCount: maximumCount)
    }

    /// The header as it stands in the token, in Base64url: a key for caches.
    package var protectedHeader: ArraySlice<UInt8> { bytes[..<firstDot] }

    /// Reads the header.
    ///
    /// - Throws: ``JOSEError``, of which ``JOSEError/unsupportedAlgorithm`` for any `alg` but `ES256`.
    package func parseHeader() throws(JOSEError) -> JOSEHeader { try JOSEHeader(rawSegment: Array(protectedHeader)) }

    /// Decodes the payload.
    ///
    /// - Throws: ``JOSEError/invalidBase64URL``
    package func decodePayload() throws(JOSEError) -> [UInt8] {
        try decode((firstDot + 1)..<secondDot)
    }

    /// Checks that the key's owner signed this header and payload with ES256.
    ///
    /// - Parameters:
    ///   - key: The key to believe.
    ///   - header: This token's header, read from it or from one with the same ``protectedHeader``.
    /// - Throws: ``JOSEError``
    package func verify(with key: ECPublicKey, header: JOSEHeader) throws(JOSEError) {
        try verify(with: key, header: header) { (token, signedCount) throws(OpenSSLError) in
            try SHA256Digest.digest(token.extracting(..<signedCount))
        }
    }

    /// Checks the signature over what `digest` digests: the first `signedCount` bytes of the token.
    func verify(
        with key: ECPublicKey, header: JOSEHeader,
        digest: (_ token: Span<UInt8>, _ signedCount: Int) throws(OpenSSLError) -> [UInt8]
    ) throws(JOSEError) {
        guard isProtectedHeader(header.rawSegment) else { throw .headerMismatch }
        let signature = try decode((secondDot + 1)..<bytes.count)
        guard signature.count == Self.signatureCount else { throw .invalidSignatureLength }
        let isValid: Bool
        do throws(OpenSSLError) {
            isValid = try key.isValidSignature(signature.span, forDigest: digest(bytes.span, secondDot))
        } catch {
            throw .library(error)
        }
        guard isValid else { throw .invalidSignature }
    }

    /// Reads the header, then checks the signature.
    ///
    /// - Returns: The header.
    /// - Throws: ``JOSEError``
    @discardableResult
    package func verify(with key: ECPublicKey) throws(JOSEError) -> JOSEHeader {
        let header = try parseHeader()
        try verify(with: key, header: header)
        return header
    }

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

    // These two run over every byte of every token, which C's functions do many at a time.

    private static func firstDot(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, CInt(dot), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func isProtectedHeader(_ segment: [UInt8]) -> Bool {
        segment.count == firstDot && memcmp(segment, bytes, firstDot) == 0
    }

    private func decode(_ range: Range<Int>) throws(JOSEError) -> [UInt8] {
        guard let decoded = Base64URL.decode(bytes.span.extracting(range)) else { throw .invalidBase64URL }
        return decoded
    }
}

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
