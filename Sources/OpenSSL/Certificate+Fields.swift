import COpenSSL
package import Foundation

extension Certificate {
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
}
