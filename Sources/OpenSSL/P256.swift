import COpenSSL

/// What is fixed about the curve P-256, and keys of libcrypto made from bare numbers.
///
/// Source: SEC 2, section 2.4.2; RFC 5480.
enum P256 {
    /// Length in bytes of a coordinate, a private scalar, and each half of a raw signature.
    static let scalarCount = 32
    /// libcrypto's name of the curve.
    static let groupName = "prime256v1"
    /// Order of the base point, big-endian.
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    /// What precedes x‖y in the DER of a SubjectPublicKeyInfo with an uncompressed point.
    static let subjectPublicKeyInfoPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// Whether 32 big-endian bytes are at least 1 and less than the order, as private scalars and both halves of a
    /// signature must be.
    static func isScalar(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }

    /// The curve itself.
    static func makeGroup() throws(OpenSSLError) -> OwnedPointer {
        try OwnedPointer(
            EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), release: EC_GROUP_free,
            operation: "EC_GROUP_new_by_curve_name")
    }

    /// Makes libcrypto's form of a key.
    ///
    /// - Parameters:
    ///   - publicPoint: x‖y.
    ///   - privateScalar: 32 bytes in the machine's byte order, for a key pair.
    /// - Returns: The key.
    /// - Throws: ``OpenSSLError`` also when the point is not on the curve.
    static func makeKey(
        publicPoint: [UInt8], privateScalar: UnsafeMutableRawBufferPointer? = nil
    ) throws(OpenSSLError) -> OwnedPointer {
        let context = try OwnedPointer(
            EVP_PKEY_CTX_new_from_name(nil, "EC", nil), release: EVP_PKEY_CTX_free,
            operation: "EVP_PKEY_CTX_new_from_name")
        try check(EVP_PKEY_fromdata_init(context.pointer), "EVP_PKEY_fromdata_init")
        var key: OpaquePointer?
        var name = Array(groupName.utf8CString)
        var point = [0x04] + publicPoint
        let selection = privateScalar == nil ? copenssl_public_key : copenssl_key_pair
        let result = name.withUnsafeMutableBufferPointer { name in
            point.withUnsafeMutableBufferPointer { point in
                var parameters = [
                    copenssl_group_name(name.baseAddress), copenssl_public_point(point.baseAddress, point.count),
                ]
                if let privateScalar {
                    parameters.append(copenssl_private_number(privateScalar.baseAddress, privateScalar.count))
                }
                parameters.append(OSSL_PARAM_construct_end())
                return EVP_PKEY_fromdata(context.pointer, &key, selection, &parameters)
            }
        }
        try check(result, "EVP_PKEY_fromdata")
        return try OwnedPointer(key, release: EVP_PKEY_free, operation: "EVP_PKEY_fromdata")
    }

    /// Reads x‖y out of a key of libcrypto's.
    static func publicPoint(of key: borrowing OwnedPointer) throws(OpenSSLError) -> [UInt8] {
        try coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: key) + coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: key)
    }

    private static func coordinate(
        _ name: String, of key: borrowing OwnedPointer
    ) throws(OpenSSLError) -> [UInt8] {
        var number: OpaquePointer?
        try check(EVP_PKEY_get_bn_param(key.pointer, name, &number), "EVP_PKEY_get_bn_param")
        let owned = try OwnedPointer(number, release: BN_free, operation: "EVP_PKEY_get_bn_param")
        var bytes = [UInt8](repeating: 0, count: scalarCount)
        guard BN_bn2binpad(owned.pointer, &bytes, CInt(scalarCount)) == CInt(scalarCount) else {
            throw OpenSSLError(draining: "BN_bn2binpad")
        }
        return bytes
    }
}
