import COpenSSL

/// Signed data (RFC 5652, section 5), which began as PKCS #7 (RFC 2315, section 9): a content with the signatures over it.
///
/// libcrypto takes BER of any form, and decodes every certificate at once, however many there are: who reads what strangers
/// send looks at number and size first.
package struct CMSSignedData: ~Copyable {
    private let data: OwnedPointer
    /// The certificates that came with it, in their order; nothing makes them trustworthy.
    package let certificates: [Certificate]

    /// Decodes a container.
    ///
    /// - Parameter ber: The bytes, nothing after the container.
    /// - Throws: ``CMSError``
    package init(ber: [UInt8]) throws(CMSError) {
        let data = try Self.signedData(ber)
        let certificates = try Self.reading(data, Self.certificates)
        // Both at once: the compiler does not take back half of what cannot be copied.
        self.certificates = certificates
        self.data = data
    }

    private static func signedData(_ ber: [UInt8]) throws(CMSError) -> OwnedPointer {
        let data: OwnedPointer
        do throws(OpenSSLError) {
            data = try decode(ber)
        } catch {
            throw .malformed(error)
        }
        guard OBJ_obj2nid(CMS_get0_type(data.pointer)) == NID_pkcs7_signed else { throw .notSignedData }
        return data
    }

    /// What libcrypto cannot read is malformed.
    private static func reading<Value>(
        _ data: borrowing OwnedPointer, _ read: (borrowing OwnedPointer) throws(OpenSSLError) -> Value
    ) throws(CMSError) -> Value {
        do throws(OpenSSLError) {
            return try read(data)
        } catch {
            throw .malformed(error)
        }
    }

    private static func decode(_ ber: [UInt8]) throws(OpenSSLError) -> OwnedPointer {
        var consumedCount = 0
        let decoded = ber.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            defer { consumedCount = position.map { $0 - (bytes.baseAddress ?? $0) } ?? 0 }
            return d2i_CMS_ContentInfo(nil, &position, bytes.count)
        }
        let owned = try OwnedPointer(decoded, release: CMS_ContentInfo_free, operation: "d2i_CMS_ContentInfo")
        guard consumedCount == ber.count else { throw OpenSSLError(draining: "d2i_CMS_ContentInfo") }
        return owned
    }

    private static func certificates(of data: borrowing OwnedPointer) throws(OpenSSLError) -> [Certificate] {
        // Nil for none.
        guard let stack = CMS_get1_certs(data.pointer) else {
            OpenSSLError.clearQueue()
            return []
        }
        let owned = try OwnedPointer(
            stack, release: copenssl_certificates_free_all, operation: "CMS_get1_certs")
        var certificates: [Certificate] = []
        for index in 0..<max(0, copenssl_certificates_count(owned.pointer)) {
            guard let pointer = copenssl_certificates_get(owned.pointer, index) else { continue }
            try check(X509_up_ref(pointer), "X509_up_ref")
            certificates.append(
                try Certificate(adopting: OwnedPointer(pointer, release: X509_free, operation: "X509_up_ref")))
        }
        return certificates
    }

    // MARK: Content

    /// The content, whatever its type; nil when it is kept elsewhere.
    package var content: [UInt8]? { withContent { $0.map { Array($0) } } }

    private func withContent<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let content = CMS_get0_content(data.pointer)?.pointee else {
            OpenSSLError.clearQueue()
            return try body(nil)
        }
        let count = ASN1_STRING_length(content)
        return try body(UnsafeBufferPointer(start: ASN1_STRING_get0_data(content), count: Int(max(0, count))))
    }

    // MARK: Signer

    /// The one signer, which stays the data's; nil for none or several.
    private var signerPointer: OpaquePointer? {
        copenssl_signers_count(data.pointer) == 1 ? copenssl_signers_get(data.pointer, 0) : nil
    }

    /// Finds the one signer and its certificate.
    ///
    /// - Throws: ``CMSError`` for none or several, for one whose certificate is not there, and for algorithms other than RSA
    ///   (PKCS #1 v1.5) and ECDSA with SHA-1 or SHA-256.
    package func signer() throws(CMSError) -> CMSSignerInfo {
        guard let signer = signerPointer else { throw .signerCount(Int(max(0, copenssl_signers_count(data.pointer)))) }
        guard let certificate = certificates.first(where: { CMS_SignerInfo_cert_cmp(signer, $0.pointer.pointer) == 0 })
        else { throw .signerCertificateMissing }
        var digestAlgorithm: UnsafeMutablePointer<X509_ALGOR>?
        var signatureAlgorithm: UnsafeMutablePointer<X509_ALGOR>?
        CMS_SignerInfo_get0_algs(signer, nil, nil, &digestAlgorithm, &signatureAlgorithm)
        let digestNumber = Self.number(of: digestAlgorithm)
        guard let digest = DigestAlgorithm.allCases.first(where: { $0.number == digestNumber }) else {
            throw .unsupportedAlgorithm(Self.name(of: digestNumber))
        }
        let signatureNumber = Self.number(of: signatureAlgorithm)
        guard digest.signatureNumbers.contains(signatureNumber) else {
            throw .unsupportedAlgorithm(Self.name(of: signatureNumber))
        }
        return CMSSignerInfo(
            certificate: certificate, digest: digest, hasSignedAttributes: CMS_signed_get_attr_count(signer) >= 0)
    }

    private static func number(of algorithm: UnsafeMutablePointer<X509_ALGOR>?) -> CInt {
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, algorithm)
        return OBJ_obj2nid(object)
    }

    private static func name(of number: CInt) -> String { OBJ_nid2sn(number).map { String(cString: $0) } ?? "unknown" }

    /// Compares the content, by its digest and type, with what the signed attributes say of it.
    ///
    /// Needs no key, so that it tells altered content from a forged signature before any certificate is looked at.
    ///
    /// - Returns: Whether they agree; nil without signed attributes.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func contentMatchesSignedAttributes(of signer: CMSSignerInfo) throws(OpenSSLError) -> Bool? {
        guard signer.hasSignedAttributes, let pointer = signerPointer else { return nil }
        defer { OpenSSLError.clearQueue() }
        // The third argument asks for an attribute that is there exactly once with exactly one value.
        let onlyOne: CInt = -3
        guard
            let stated = CMS_signed_get0_data_by_OBJ(
                pointer, OBJ_nid2obj(NID_pkcs9_messageDigest), onlyOne, V_ASN1_OCTET_STRING),
            let type = CMS_signed_get0_data_by_OBJ(
                pointer, OBJ_nid2obj(NID_pkcs9_contentType), onlyOne, V_ASN1_OBJECT),
            OBJ_cmp(OpaquePointer(type), CMS_get0_eContentType(data.pointer)) == 0
        else { return false }
        let string = stated.assumingMemoryBound(to: ASN1_STRING.self)
        let statedDigest = UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(string), count: Int(max(0, ASN1_STRING_length(string))))
        return try contentDigest(signer.digest).elementsEqual(statedDigest)
    }

    /// Checks the signature, over the signed attributes if there are any, else over the content.
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func checkSignature(of signer: CMSSignerInfo) throws(OpenSSLError) -> CMSSignatureResult {
        guard let pointer = signerPointer else { return .invalid }
        CMS_SignerInfo_set1_signer_cert(pointer, signer.certificate.pointer.pointer)
        guard signer.hasSignedAttributes else { return try checkSignatureOverContent(of: signer, pointer) }
        if CMS_SignerInfo_verify(pointer) == 1 { return .valid }
        return try Self.refused("CMS_SignerInfo_verify")
    }

    private func checkSignatureOverContent(
        of signer: CMSSignerInfo, _ pointer: OpaquePointer
    ) throws(OpenSSLError) -> CMSSignatureResult {
        guard let key = X509_get0_pubkey(signer.certificate.pointer.pointer),
            let signature = CMS_SignerInfo_get0_signature(pointer)
        else { return try Self.refused("X509_get0_pubkey") }
        let digest = try contentDigest(signer.digest)
        let context = try OwnedPointer(
            EVP_PKEY_CTX_new_from_pkey(nil, key, nil), release: EVP_PKEY_CTX_free,
            operation: "EVP_PKEY_CTX_new_from_pkey")
        guard EVP_PKEY_verify_init(context.pointer) == 1,
            EVP_PKEY_CTX_set_signature_md(context.pointer, signer.digest.pointer) == 1
        else { return try Self.refused("EVP_PKEY_verify_init") }
        let count = Int(max(0, ASN1_STRING_length(signature)))
        let bytes = ASN1_STRING_get0_data(signature)
        if EVP_PKEY_verify(context.pointer, bytes, count, digest, digest.count) == 1 { return .valid }
        let result = try Self.refused("EVP_PKEY_verify")
        return signedOtherDigest(bytes, count, key: key, of: signer) ? .otherContent : result
    }

    /// Whether the signature holds another digest than the content's, which RSA lets one see: the key's owner did sign
    /// something, but not this.
    private func signedOtherDigest(
        _ signature: UnsafePointer<UInt8>?, _ count: Int, key: OpaquePointer, of signer: CMSSignerInfo
    ) -> Bool {
        defer { OpenSSLError.clearQueue() }
        guard EVP_PKEY_is_a(key, "RSA") == 1,
            let context = try? OwnedPointer(
                EVP_PKEY_CTX_new_from_pkey(nil, key, nil), release: EVP_PKEY_CTX_free,
                operation: "EVP_PKEY_CTX_new_from_pkey"),
            EVP_PKEY_verify_recover_init(context.pointer) == 1,
            EVP_PKEY_CTX_set_rsa_padding(context.pointer, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context.pointer, signer.digest.pointer) == 1
        else { return false }
        var recovered = [UInt8](repeating: 0, count: Int(max(0, EVP_PKEY_get_size(key))))
        var recoveredCount = recovered.count
        return EVP_PKEY_verify_recover(context.pointer, &recovered, &recoveredCount, signature, count) == 1
            && recoveredCount == Int(EVP_MD_get_size(signer.digest.pointer))
    }

    /// What a refusal of libcrypto's means: a signature that does not hold, unless there was no memory to look at it.
    private static func refused(_ operation: StaticString) throws(OpenSSLError) -> CMSSignatureResult {
        let error = OpenSSLError(draining: operation)
        guard !error.codes.contains(where: { copenssl_is_out_of_memory($0) != 0 }) else { throw error }
        return .invalid
    }

    private func contentDigest(_ algorithm: DigestAlgorithm) throws(OpenSSLError) -> [UInt8] {
        try withContent { (content) throws(OpenSSLError) in
            try algorithm.digest(content ?? UnsafeBufferPointer(start: nil, count: 0))
        }
    }
}

/// Who signed a ``CMSSignedData``, as that says itself.
package struct CMSSignerInfo: Sendable {
    package let certificate: Certificate
    /// What the content is digested with.
    package let digest: DigestAlgorithm
    /// Whether it is attributes that are signed, which hold the content's digest, and not the content itself.
    package let hasSignedAttributes: Bool
}

/// How the check of a signature went.
package enum CMSSignatureResult: Sendable, Equatable {
    case valid
    case invalid
    /// The key's owner signed another content than this; only RSA without signed attributes tells.
    case otherContent
}

extension DigestAlgorithm {
    fileprivate var number: CInt {
        switch self {
        case .sha1: NID_sha1
        case .sha256: NID_sha256
        }
    }

    /// Those signature algorithms that go with it; the first two name the key alone.
    fileprivate var signatureNumbers: [CInt] {
        switch self {
        case .sha1: [NID_rsaEncryption, NID_X9_62_id_ecPublicKey, NID_sha1WithRSAEncryption, NID_ecdsa_with_SHA1]
        case .sha256: [NID_rsaEncryption, NID_X9_62_id_ecPublicKey, NID_sha256WithRSAEncryption, NID_ecdsa_with_SHA256]
        }
    }
}

/// Why bytes are not signed data of one signer.
package enum CMSError: Error, Sendable, Equatable {
    /// Not the BER of a container, or with bytes after its end.
    case malformed(OpenSSLError)
    /// A container of another kind, such as encrypted data.
    case notSignedData
    /// Not one signer; the associated value is the number.
    case signerCount(Int)
    /// The certificate that the signer names is not in the container.
    case signerCertificateMissing
    /// A digest or signature that is not supported; the associated value is libcrypto's name for it.
    case unsupportedAlgorithm(String)
}

extension CMSError: CustomStringConvertible {
    /// What is wrong, with libcrypto's text.
    package var description: String {
        switch self {
        case .malformed(let error): "not a PKCS #7 container: \(error)"
        case .notSignedData: "a PKCS #7 container of something other than signed data"
        case .signerCount(let count): "\(count) signers instead of one"
        case .signerCertificateMissing: "the signer's certificate is not in the container"
        case .unsupportedAlgorithm(let name): "signed with \(name), which is not supported"
        }
    }
}
