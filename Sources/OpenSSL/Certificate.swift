import COpenSSL

/// An X.509 certificate (RFC 5280).
///
/// `@unchecked Sendable`: nothing of it changes after `init`; what libcrypto derives from it later it keeps under a
/// lock of its own.
package final class Certificate: @unchecked Sendable {
    /// The largest certificate that is read, in bytes of DER.
    package static let maximumDERCount = 32 * 1024

    /// The certificate as it was given, in DER.
    package let der: [UInt8]
    let pointer: OwnedPointer

    /// Reads a certificate.
    ///
    /// - Parameter der: The DER, nothing after it.
    /// - Throws: ``CertificateError``
    package init(der: [UInt8]) throws(CertificateError) {
        guard !der.isEmpty else { throw .empty }
        guard der.count <= Self.maximumDERCount else { throw .tooLarge }
        var consumedCount = 0
        let decoded = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            defer { consumedCount = position.map { $0 - (bytes.baseAddress ?? $0) } ?? 0 }
            return d2i_X509(nil, &position, bytes.count)
        }
        do throws(OpenSSLError) {
            let owned = try OwnedPointer(decoded, release: X509_free, operation: "d2i_X509")
            guard consumedCount == der.count else { throw OpenSSLError(draining: "d2i_X509") }
            pointer = owned
        } catch {
            throw .malformed(error)
        }
        self.der = der
    }

    /// Takes over a certificate of libcrypto's.
    init(adopting pointer: consuming OwnedPointer) throws(OpenSSLError) {
        let count = i2d_X509(pointer.pointer, nil)
        guard count > 0 else { throw OpenSSLError(draining: "i2d_X509") }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return i2d_X509(pointer.pointer, &position)
        }
        guard written == count else { throw OpenSSLError(draining: "i2d_X509") }
        der = bytes
        self.pointer = pointer
    }
}

extension Certificate: Equatable {
    /// Whether both are the same to the byte.
    package static func == (first: Certificate, second: Certificate) -> Bool { first.der == second.der }
}
