import COpenSSL

extension CertificateBuilder {
    /// Adds all extensions, the certificate's own key identifier before the issuer's, which for roots repeats it.
    ///
    /// - Parameters:
    ///   - certificate: Has its key and names already.
    ///   - issuer: The authority's certificate; nil for a root.
    /// - Throws: ``OpenSSLError``, mostly for a name or object identifier that libcrypto cannot encode.
    func addExtensions(to certificate: borrowing OwnedPointer, issuer: Certificate?) throws(OpenSSLError) {
        let issuer = issuer?.pointer.pointer ?? certificate.pointer
        try add(NID_basic_constraints, basicConstraintsText, to: certificate, issuer: issuer)
        if !keyUsage.isEmpty {
            let names = keyUsage.map(\.rawValue).joined(separator: ",")
            try add(NID_key_usage, "critical,\(names)", to: certificate, issuer: issuer)
        }
        if !extendedKeyUsage.isEmpty {
            let names = extendedKeyUsage.map(\.rawValue).joined(separator: ",")
            try add(NID_ext_key_usage, names, to: certificate, issuer: issuer)
        }
        try add(NID_subject_key_identifier, "hash", to: certificate, issuer: issuer)
        try add(NID_authority_key_identifier, "keyid:always", to: certificate, issuer: issuer)
        if !alternativeNames.isEmpty { try addAlternativeNames(to: certificate) }
        for oid in markerExtensions { try addMarker(oid, to: certificate) }
    }

    private var basicConstraintsText: String {
        switch basicConstraints {
        case .endEntity: "critical,CA:FALSE"
        case .certificateAuthority(nil): "critical,CA:TRUE"
        case .certificateAuthority(let pathLength?): "critical,CA:TRUE,pathlen:\(pathLength)"
        }
    }

    private func add(
        _ identifier: CInt, _ value: String, to certificate: borrowing OwnedPointer, issuer: OpaquePointer
    ) throws(OpenSSLError) {
        let added = try OwnedPointer(
            copenssl_extension(issuer, certificate.pointer, identifier, value), release: X509_EXTENSION_free,
            operation: "X509V3_EXT_nconf_nid")
        try check(X509_add_ext(certificate.pointer, added.pointer, -1), "X509_add_ext")
    }

    /// Adds names through libcrypto's structures and not its configuration syntax, in which a comma in a name would
    /// begin another.
    private func addAlternativeNames(to certificate: borrowing OwnedPointer) throws(OpenSSLError) {
        let names = try OwnedPointer(
            GENERAL_NAMES_new(), release: GENERAL_NAMES_free, operation: "GENERAL_NAMES_new")
        for name in alternativeNames {
            guard let general = GENERAL_NAME_new() else { throw OpenSSLError(draining: "GENERAL_NAME_new") }
            guard copenssl_general_names_push(names.pointer, general) > 0 else {
                GENERAL_NAME_free(general)
                throw OpenSSLError(draining: "sk_GENERAL_NAME_push")
            }
            let (kind, value) = try encoded(name)
            GENERAL_NAME_set0_value(general, kind, value)
        }
        try check(
            X509_add1_ext_i2d(
                certificate.pointer, NID_subject_alt_name, UnsafeMutableRawPointer(names.pointer), 0,
                UInt(X509V3_ADD_APPEND)),
            "X509_add1_ext_i2d")
    }

    /// Makes the string of a general name, which the caller owns.
    private func encoded(
        _ name: AlternativeName
    ) throws(OpenSSLError) -> (kind: CInt, value: UnsafeMutablePointer<ASN1_STRING>) {
        if case .ipAddress(let text) = name {
            guard let value = a2i_IPADDRESS(text) else { throw OpenSSLError(draining: "a2i_IPADDRESS") }
            return (GEN_IPADD, value)
        }
        guard let value = ASN1_STRING_type_new(V_ASN1_IA5STRING) else {
            throw OpenSSLError(draining: "ASN1_STRING_type_new")
        }
        let bytes = Array(name.text.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }), ASN1_STRING_set(value, bytes, CInt(bytes.count)) == 1 else {
            ASN1_STRING_free(value)
            throw OpenSSLError(draining: "ASN1_STRING_set")
        }
        if case .uri = name { return (GEN_URI, value) }
        return (GEN_DNS, value)
    }

    private func addMarker(_ oid: String, to certificate: borrowing OwnedPointer) throws(OpenSSLError) {
        let object = try OwnedPointer(OBJ_txt2obj(oid, 1), release: ASN1_OBJECT_free, operation: "OBJ_txt2obj")
        guard let value = ASN1_OCTET_STRING_new() else { throw OpenSSLError(draining: "ASN1_OCTET_STRING_new") }
        defer { ASN1_OCTET_STRING_free(value) }
        // The DER of NULL.
        try check(ASN1_OCTET_STRING_set(value, [0x05, 0x00], 2), "ASN1_OCTET_STRING_set")
        let marker = try OwnedPointer(
            X509_EXTENSION_create_by_OBJ(nil, object.pointer, 0, value), release: X509_EXTENSION_free,
            operation: "X509_EXTENSION_create_by_OBJ")
        try check(X509_add_ext(certificate.pointer, marker.pointer, -1), "X509_add_ext")
    }
}
