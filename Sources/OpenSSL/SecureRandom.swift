import COpenSSL

/// Random bytes from libcrypto's generator, which the kernel seeds.
package enum SecureRandom {
    /// Draws bytes fit for identifiers, nonces and secrets.
    ///
    /// - Parameter count: Number of bytes, at most `Int32.max`.
    /// - Returns: The bytes.
    /// - Throws: ``OpenSSLError`` if the generator has no entropy; its bytes must not be replaced by others.
    package static func bytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        guard let size = CInt(exactly: count) else { throw OpenSSLError(draining: "RAND_bytes") }
        var bytes = [UInt8](repeating: 0, count: count)
        try check(RAND_bytes(&bytes, size), "RAND_bytes")
        return bytes
    }
}
