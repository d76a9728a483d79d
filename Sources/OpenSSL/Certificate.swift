import COpenSSL
package import Foundation

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

    // MARK: Fields

    // A time that cannot be read makes the certificate valid never.

    /// The first moment of validity.
    package var notBefore: Date { Self.date(X509_get0_notBefore(pointer.pointer)) ?? .distantFuture }

    /// The last moment of validity.
    package var notAfter: Date { Self.date(X509_get0_notAfter(pointer.pointer)) ?? .distantPast }

    /// The subject's name on one line, such as `CN = localhost, O = Example`, control characters escaped.
    package var subject: String {
        guard let bio = try? MemoryBIO(),
            copenssl_print_name(bio.pointer, X509_get_subject_name(pointer.pointer)) >= 0
        else {
            OpenSSLError.clearQueue()
            return ""
        }
        return bio.text
    }

    /// The serial number in lower-case hexadecimal digits, two per byte.
    package var serialNumber: String {
        guard let serial = X509_get0_serialNumber(pointer.pointer),
            let start = ASN1_STRING_get0_data(serial)
        else { return "" }
        return Hexadecimal.encode(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(serial))))
    }

    /// The key that the certificate vouches for.
    ///
    /// - Throws: ``PublicKeyError`` if it is not on P-256.
    package func publicKey() throws(PublicKeyError) -> ECPublicKey {
        try ECPublicKey(rawRepresentation: ECPublicKey.point(ofDecoded: X509_get_pubkey(pointer.pointer)))
    }

    /// Whether the basic constraints (RFC 5280, section 4.2.1.9) make it a certificate authority.
    package var isCertificateAuthority: Bool { X509_check_ca(pointer.pointer) == 1 }

    /// Whether an extension is present, whatever its value.
    ///
    /// - Parameter oid: Its object identifier in digits, such as `2.5.29.19`.
    /// - Returns: Whether the certificate carries it.
    package func hasExtension(oid: String) -> Bool {
        guard let object = OBJ_txt2obj(oid, 1) else {
            OpenSSLError.clearQueue()
            return false
        }
        defer { ASN1_OBJECT_free(object) }
        return X509_get_ext_by_OBJ(pointer.pointer, object, -1) >= 0
    }

    /// Bits of security of the key, such as 112 for RSA of 2048 bits; 0 for a key that cannot be read.
    var keySecurityBits: CInt {
        guard let key = X509_get0_pubkey(pointer.pointer) else {
            OpenSSLError.clearQueue()
            return 0
        }
        return EVP_PKEY_get_security_bits(key)
    }

    /// Bits of security of the issuer's signature, by its digest; 0 for an algorithm that libcrypto does not know.
    var signatureSecurityBits: CInt {
        var bits: CInt = 0
        guard X509_get_signature_info(pointer.pointer, nil, nil, &bits, nil) == 1 else {
            OpenSSLError.clearQueue()
            return 0
        }
        return bits
    }

    /// Whether the issuer signed a digest of SHA-1.
    var isSignedWithSHA1: Bool {
        var digest: CInt = 0
        guard X509_get_signature_info(pointer.pointer, &digest, nil, nil, nil) == 1 else {
            OpenSSLError.clearQueue()
            return false
        }
        return digest == NID_sha1
    }

    /// SHA-256 of the DER, 32 bytes.
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func sha256Fingerprint() throws(OpenSSLError) -> [UInt8] { try SHA256Digest.digest(der) }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else {
            OpenSSLError.clearQueue()
            return nil
        }
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }

    // MARK: PEM

    /// Reads the one certificate of a PEM text (`BEGIN CERTIFICATE`).
    ///
    /// - Parameter pem: The text; what stands around the block is ignored.
    /// - Throws: ``CertificateError``
    package convenience init(pem: String) throws(CertificateError) {
        let ders = try Self.derBlocks(ofPEM: Array(pem.utf8))
        guard let der = ders.first else { throw .empty }
        guard ders.count == 1 else { throw .severalCertificates }
        try self.init(der: der)
    }

    /// Reads a certificate file as they are found in practice: one certificate in DER, or any number in PEM.
    ///
    /// - Parameter bytes: The file's content.
    /// - Returns: At least one certificate, in the file's order.
    /// - Throws: ``CertificateError``
    package static func certificates(inFile bytes: [UInt8]) throws(CertificateError) -> [Certificate] {
        if bytes.first == DERReader.Tag.sequence.rawValue { return [try Certificate(der: bytes)] }
        let ders = try derBlocks(ofPEM: bytes)
        guard !ders.isEmpty else { throw .empty }
        var certificates: [Certificate] = []
        for der in ders { certificates.append(try Certificate(der: der)) }
        return certificates
    }

    /// Writes the certificate as PEM (`BEGIN CERTIFICATE`).
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_X509(bio.pointer, pointer.pointer), "PEM_write_bio_X509")
        return bio.text
    }

    /// The content of each certificate block, in order; other blocks are passed over.
    private static func derBlocks(ofPEM bytes: [UInt8]) throws(CertificateError) -> [[UInt8]] {
        OpenSSLError.clearQueue()
        do throws(OpenSSLError) {
            return try bytes.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
                let bio = try MemoryBIO(reading: bytes)
                var blocks: [[UInt8]] = []
                while true {
                    var content: UnsafeMutablePointer<UInt8>?
                    var count = 0
                    let found = PEM_bytes_read_bio(
                        &content, &count, nil, PEM_STRING_X509, bio.pointer, MemoryBIO.noPassphrase, nil)
                    guard found == 1 else { break }
                    blocks.append(Array(UnsafeBufferPointer(start: content, count: count)))
                    CRYPTO_free(content, nil, 0)
                }
                let error = OpenSSLError(draining: "PEM_read_bio")
                // Reading ends by finding no further block; anything else means that a block is damaged.
                guard error.isAbout(PEM_R_NO_START_LINE, library: ERR_LIB_PEM) else { throw error }
                return blocks
            }
        } catch {
            throw .malformed(error)
        }
    }
}

extension Certificate: Equatable {
    /// Whether both are the same to the byte.
    package static func == (first: Certificate, second: Certificate) -> Bool { first.der == second.der }
}

/// Why bytes are not an X.509 certificate.
package enum CertificateError: Error, Sendable, Equatable {
    /// No bytes, or a PEM text without a certificate.
    case empty
    /// More than ``Certificate/maximumDERCount`` bytes for one certificate.
    case tooLarge
    /// Not the DER of a certificate, damaged, or with bytes after its end.
    case malformed(OpenSSLError)
    /// Several certificates where one is wanted.
    case severalCertificates
}

extension CertificateError: CustomStringConvertible {
    /// What is wrong, with libcrypto's text.
    package var description: String {
        switch self {
        case .empty: "no certificate"
        case .tooLarge: "larger than \(Certificate.maximumDERCount) bytes"
        case .malformed(let error): "not a certificate: \(error)"
        case .severalCertificates: "several certificates instead of one"
        }
    }
}
