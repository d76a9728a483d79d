import COpenSSL
package import Foundation

/// What a certificate is to say: for simulators and tests, which issue their own.
///
/// Subject and authority key identifiers are always written, since strict verification wants them.
package struct CertificateBuilder: Sendable {
    /// Whether the certificate may issue others (RFC 5280, section 4.2.1.9).
    package enum BasicConstraints: Sendable, Equatable {
        case endEntity
        /// The path length counts the authorities that may follow below; nil sets no limit.
        case certificateAuthority(pathLength: Int?)
    }

    /// What the key may be used for (RFC 5280, section 4.2.1.3), by OpenSSL's names.
    package enum KeyUsage: String, Sendable, Equatable {
        case digitalSignature
        case certificateSigning = "keyCertSign"
        case revocationListSigning = "cRLSign"
    }

    /// What for (RFC 5280, section 4.2.1.12), by OpenSSL's names.
    package enum ExtendedKeyUsage: String, Sendable, Equatable {
        case serverAuthentication = "serverAuth"
        case clientAuthentication = "clientAuth"
    }

    /// A name that the certificate's holder answers to (RFC 5280, section 4.2.1.6).
    package enum AlternativeName: Sendable, Equatable {
        case dns(String)
        /// IPv4 or IPv6, in digits.
        case ipAddress(String)
        case uri(String)
    }

    /// The subject's common name.
    package var commonName: String
    /// The subject's organization.
    package var organization: String?
    /// The first moment of validity; fractions of a second are cut.
    package var notBefore: Date
    /// The last moment of validity; fractions of a second are cut.
    package var notAfter: Date
    package var basicConstraints: BasicConstraints
    /// Left out of the certificate when empty.
    package var keyUsage: [KeyUsage]
    /// Left out of the certificate when empty.
    package var extendedKeyUsage: [ExtendedKeyUsage] = []
    /// Left out of the certificate when empty.
    package var alternativeNames: [AlternativeName] = []
    /// Object identifiers of extensions to mark the certificate with: not critical, of value NULL.
    package var markerExtensions: [String] = []
    /// What the issuer signs with; nil for the digest of its key's strength.
    package var signatureDigest: DigestAlgorithm?

    /// Starts an authority, whether root or intermediate.
    ///
    /// - Parameters:
    ///   - name: The common name.
    ///   - notBefore: The first moment of validity.
    ///   - notAfter: The last moment of validity.
    ///   - pathLength: How many authorities may follow below.
    /// - Returns: The start, to change before it is issued.
    package static func authority(
        _ name: String, notBefore: Date, notAfter: Date, pathLength: Int? = nil
    ) -> CertificateBuilder {
        CertificateBuilder(
            commonName: name, notBefore: notBefore, notAfter: notAfter,
            basicConstraints: .certificateAuthority(pathLength: pathLength),
            keyUsage: [.certificateSigning, .revocationListSigning])
    }

    /// Starts a certificate whose key signs data.
    package static func signer(_ name: String, notBefore: Date, notAfter: Date) -> CertificateBuilder {
        CertificateBuilder(
            commonName: name, notBefore: notBefore, notAfter: notAfter, basicConstraints: .endEntity,
            keyUsage: [.digitalSignature])
    }

    /// Starts the certificate of a TLS server.
    ///
    /// - Parameters:
    ///   - names: What clients connect to; the first is the common name too.
    ///   - notBefore: The first moment of validity.
    ///   - notAfter: The last moment of validity.
    /// - Returns: The start, to change before it is issued.
    package static func server(
        _ names: [AlternativeName], notBefore: Date, notAfter: Date
    ) -> CertificateBuilder {
        var builder = signer(names.first?.text ?? "server", notBefore: notBefore, notAfter: notAfter)
        builder.extendedKeyUsage = [.serverAuthentication]
        builder.alternativeNames = names
        return builder
    }

    // MARK: Issuing

    /// Issues the certificate for the key itself, as roots are.
    ///
    /// - Throws: ``OpenSSLError``, mostly for a name or object identifier that libcrypto cannot encode.
    package func selfSigned(by key: IssuingKey) throws(OpenSSLError) -> Certificate {
        try issue(to: key.subjectPublicKeyInfo(), issuer: nil, key: key)
    }

    /// Issues the certificate.
    ///
    /// - Parameters:
    ///   - subjectPublicKeyInfo: The key to vouch for, in DER.
    ///   - issuer: The authority's certificate.
    ///   - key: The authority's key.
    /// - Returns: The certificate.
    /// - Throws: ``OpenSSLError``, mostly for a name or object identifier that libcrypto cannot encode.
    package func issued(
        to subjectPublicKeyInfo: [UInt8], by issuer: Certificate, key: IssuingKey
    ) throws(OpenSSLError) -> Certificate {
        try issue(to: subjectPublicKeyInfo, issuer: issuer, key: key)
    }

    private func issue(
        to subjectPublicKeyInfo: [UInt8], issuer: Certificate?, key: IssuingKey
    ) throws(OpenSSLError) -> Certificate {
        let certificate = try OwnedPointer(X509_new(), release: X509_free, operation: "X509_new")
        try check(X509_set_version(certificate.pointer, Int(X509_VERSION_3)), "X509_set_version")
        try setSerialNumber(of: certificate)
        try setPublicKey(of: certificate, subjectPublicKeyInfo)
        try setNames(of: certificate, issuer: issuer)
        try setValidity(of: certificate)
        try addExtensions(to: certificate, issuer: issuer)
        guard X509_sign(certificate.pointer, key.key.pointer, signatureDigest?.pointer ?? key.digest) > 0 else {
            throw OpenSSLError(draining: "X509_sign")
        }
        return try Certificate(adopting: certificate)
    }

    /// Draws 128 random bits, positive and of full length (RFC 5280, section 4.1.2.2).
    private func setSerialNumber(of certificate: borrowing OwnedPointer) throws(OpenSSLError) {
        var bytes = try SecureRandom.bytes(16)
        bytes[0] = bytes[0] & 0x3F | 0x40
        let number = try OwnedPointer(
            BN_bin2bn(bytes, CInt(bytes.count), nil), release: BN_free, operation: "BN_bin2bn")
        guard BN_to_ASN1_INTEGER(number.pointer, X509_get_serialNumber(certificate.pointer)) != nil else {
            throw OpenSSLError(draining: "BN_to_ASN1_INTEGER")
        }
    }

    private func setPublicKey(
        of certificate: borrowing OwnedPointer, _ subjectPublicKeyInfo: [UInt8]
    ) throws(OpenSSLError) {
        let decoded = subjectPublicKeyInfo.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
        let key = try OwnedPointer(decoded, release: EVP_PKEY_free, operation: "d2i_PUBKEY")
        try check(X509_set_pubkey(certificate.pointer, key.pointer), "X509_set_pubkey")
    }

    private func setNames(of certificate: borrowing OwnedPointer, issuer: Certificate?) throws(OpenSSLError) {
        let subject = X509_get_subject_name(certificate.pointer)
        for (field, text) in [("CN", commonName), ("O", organization)] {
            guard let text else { continue }
            let bytes = Array(text.utf8)
            try check(copenssl_name_add(subject, field, bytes, CInt(bytes.count)), "X509_NAME_add_entry_by_txt")
        }
        let issuerName = issuer.map { X509_get_subject_name($0.pointer.pointer) } ?? subject
        try check(X509_set_issuer_name(certificate.pointer, issuerName), "X509_set_issuer_name")
    }

    private func setValidity(of certificate: borrowing OwnedPointer) throws(OpenSSLError) {
        let pointer = certificate.pointer
        try setTime(notBefore, "X509_set1_notBefore") { X509_set1_notBefore(pointer, $0) }
        try setTime(notAfter, "X509_set1_notAfter") { X509_set1_notAfter(pointer, $0) }
    }

    private func setTime(
        _ date: Date, _ operation: StaticString, _ set: (UnsafeMutablePointer<ASN1_TIME>) -> CInt
    ) throws(OpenSSLError) {
        guard let seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)),
            let time = ASN1_TIME_set(nil, seconds)
        else { throw OpenSSLError(draining: "ASN1_TIME_set") }
        defer { ASN1_TIME_free(time) }
        try check(set(time), operation)
    }
}

extension CertificateBuilder.AlternativeName {
    /// The name without its kind.
    package var text: String {
        switch self {
        case .dns(let text), .ipAddress(let text), .uri(let text): text
        }
    }
}
