import COpenSSL

/// Who a certificate is for, and what its key may do.
extension Certificate {
    /// The subject alternative names that are URIs (RFC 5280, section 4.2.1.6), in their order.
    ///
    /// Nil when the names cannot be read, stand in more than one extension, or when a URI holds anything but printable ASCII
    /// characters: two programs could then read two names.
    package var uniformResourceIdentifiers: [String]? {
        var criticality: CInt = 0
        let decoded = X509_get_ext_d2i(pointer.pointer, NID_subject_alt_name, &criticality, nil)
        guard let decoded else {
            OpenSSLError.clearQueue()
            // -1 is an extension that is not there.
            return criticality == -1 ? [] : nil
        }
        let names = OpaquePointer(decoded)
        defer { GENERAL_NAMES_free(names) }
        var found: [String] = []
        for index in 0..<copenssl_general_names_count(names) {
            guard let uri = copenssl_general_names_uri(names, index) else { continue }
            guard let start = ASN1_STRING_get0_data(uri) else { return nil }
            let bytes = UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(uri)))
            guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
            found.append(String(decoding: bytes, as: UTF8.self))
        }
        return found
    }

    /// Whether the key may be used for something (RFC 5280, section 4.2.1.3): without the extension, for everything.
    package func allows(_ usage: CertificateBuilder.KeyUsage) -> Bool {
        let usages = X509_get_key_usage(pointer.pointer)
        let bit =
            switch usage {
            case .digitalSignature: KU_DIGITAL_SIGNATURE
            case .certificateSigning: KU_KEY_CERT_SIGN
            case .revocationListSigning: KU_CRL_SIGN
            }
        return usages & UInt32(bit) != 0
    }

    /// Whether the key may authenticate the client of a TLS connection (RFC 5280, section 4.2.1.12): without the extension,
    /// any purpose is allowed.
    package var allowsClientAuthentication: Bool {
        X509_get_extended_key_usage(pointer.pointer) & UInt32(XKU_SSL_CLIENT) != 0
    }
}
