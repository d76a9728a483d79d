import COpenSSL
package import Foundation

/// Signs data as CMS signedData (RFC 5652): for simulators and tests, which issue receipts of their own.
package struct CMSSigner: Sendable {
    /// How the structure is written.
    package enum Encoding: Sendable, Equatable {
        /// Every length known beforehand.
        case der
        /// Indefinite lengths and an octet string in pieces, as programs write that do not know the content's length
        /// beforehand (X.690, sections 8.1.3.6 and 8.7.3).
        case indefiniteLengths
    }

    /// The signer's certificate, which is included.
    package var certificate: Certificate
    /// The signer's key.
    package var key: IssuingKey
    /// Further certificates to include, in this order.
    package var otherCertificates: [Certificate] = []
    /// The digest that is signed.
    package var digest: DigestAlgorithm = .sha256
    /// Nil signs the content itself; else signed attributes with this time (RFC 5652, section 5.3) are signed.
    package var signingTime: Date?
    package var encoding: Encoding = .der

    /// A signer with SHA-256, without signed attributes, in DER.
    package init(certificate: Certificate, key: IssuingKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Signs the content and encloses it.
    ///
    /// - Parameter content: What is signed, at most 2 GiB.
    /// - Returns: A ContentInfo of signedData.
    /// - Throws: ``OpenSSLError``, for a key that is not the certificate's too.
    package func sign(_ content: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try content.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
            let source = try MemoryBIO(reading: bytes)
            let streaming = encoding == .indefiniteLengths ? CMS_STREAM : 0
            let message = try OwnedPointer(
                CMS_sign(nil, nil, nil, nil, UInt32(CMS_PARTIAL | CMS_BINARY | streaming)),
                release: CMS_ContentInfo_free, operation: "CMS_sign")
            try addSigner(to: message)
            for other in otherCertificates {
                try check(CMS_add1_cert(message.pointer, other.pointer.pointer), "CMS_add1_cert")
            }
            let output = try MemoryBIO()
            switch encoding {
            case .der:
                try check(CMS_final(message.pointer, source.pointer, nil, UInt32(CMS_BINARY)), "CMS_final")
                try check(i2d_CMS_bio(output.pointer, message.pointer), "i2d_CMS_bio")
            case .indefiniteLengths:
                try check(
                    i2d_CMS_bio_stream(output.pointer, message.pointer, source.pointer, CMS_STREAM | CMS_BINARY),
                    "i2d_CMS_bio_stream")
            }
            return output.withContents { Array($0) }
        }
    }

    private func addSigner(to message: borrowing OwnedPointer) throws(OpenSSLError) {
        let attributes = signingTime == nil ? CMS_NOATTR : 0
        let added = CMS_add1_signer(
            message.pointer, certificate.pointer.pointer, key.key.pointer, digest.pointer,
            UInt32(CMS_NOSMIMECAP | attributes))
        guard let signer = added else { throw OpenSSLError(draining: "CMS_add1_signer") }
        guard let signingTime else { return }
        guard let seconds = time_t(exactly: signingTime.timeIntervalSince1970.rounded(.down)),
            let time = ASN1_TIME_set(nil, seconds)
        else { throw OpenSSLError(draining: "ASN1_TIME_set") }
        defer { ASN1_TIME_free(time) }
        // libcrypto would take the machine's clock if there were no signing time.
        try check(
            CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_signingTime, time.pointee.type, time, -1),
            "CMS_signed_add1_attr_by_NID")
    }
}

/// The digests that Apple signs and has signed with.
package enum DigestAlgorithm: String, Sendable, Equatable, CaseIterable {
    /// Broken; in signatures of old only, and in what proves nothing.
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"

    /// The algorithm, which libcrypto owns.
    var pointer: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }

    /// Digests a message.
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func digest(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try message.withUnsafeBufferPointer { (message) throws(OpenSSLError) in try digest(message) }
    }

    /// Digests a message that lies somewhere else than in an array.
    func digest(_ message: UnsafeBufferPointer<UInt8>) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        try check(EVP_Digest(message.baseAddress, message.count, &digest, &count, pointer, nil), "EVP_Digest")
        return Array(digest.prefix(Int(count)))
    }
}
