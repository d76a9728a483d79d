import COpenSSL

/// ECDSA verification with tables of multiples of both points.
///
/// libcrypto keeps such a table for the base point of P-256 only. Here the public key serves as the base point of a
/// second group, so that it gets one too, and the 256 doublings that make up most of a verification are spared. All
/// arithmetic is libcrypto's; its order is that of FIPS 186-5, section 6.4.2. Everything here is public, so no step
/// needs constant time.
///
/// `@unchecked Sendable`: nothing changes after `init`, and libcrypto only reads the groups when multiplying.
final class PointTable: @unchecked Sendable {
    /// The curve with its standard base point.
    private let group: OwnedPointer
    /// The curve with the public key as its base point.
    private let keyGroup: OwnedPointer

    /// Computes the table.
    ///
    /// - Parameter point: x‖y of a point that is on the curve.
    /// - Throws: ``OpenSSLError``
    init(point: [UInt8]) throws(OpenSSLError) {
        let group = try P256.makeGroup()
        let keyGroup = try OwnedPointer(EC_GROUP_dup(group.pointer), release: EC_GROUP_free, operation: "EC_GROUP_dup")
        let base = try OwnedPointer(EC_POINT_new(group.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
        let octets = [0x04] + point
        try check(
            EC_POINT_oct2point(group.pointer, base.pointer, octets, octets.count, nil), "EC_POINT_oct2point")
        try check(
            EC_GROUP_set_generator(
                keyGroup.pointer, base.pointer, EC_GROUP_get0_order(group.pointer),
                EC_GROUP_get0_cofactor(group.pointer)),
            "EC_GROUP_set_generator")
        try check(EC_GROUP_precompute_mult(keyGroup.pointer, nil), "EC_GROUP_precompute_mult")
        self.group = group
        self.keyGroup = keyGroup
    }

    /// Checks a signature.
    ///
    /// - Parameters:
    ///   - signature: r‖s, both in 1..<n.
    ///   - digest: SHA-256 of the message.
    /// - Returns: Whether it is the key owner's.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    func isValidSignature(
        _ signature: UnsafeRawBufferPointer, forDigest digest: [UInt8]
    ) throws(OpenSSLError) -> Bool {
        let context = try OwnedPointer(BN_CTX_new(), release: BN_CTX_free, operation: "BN_CTX_new")
        BN_CTX_start(context.pointer)
        defer { BN_CTX_end(context.pointer) }
        let order = EC_GROUP_get0_order(group.pointer)
        let r = try number(signature[..<P256.scalarCount], context)
        let s = try number(signature[P256.scalarCount...], context)
        let message = try number(digest[...], context)
        guard let first = BN_CTX_get(context.pointer), let second = BN_CTX_get(context.pointer),
            BN_mod_inverse(s, s, order, context.pointer) != nil
        else { throw OpenSSLError(draining: "BN_mod_inverse") }
        try check(BN_mod_mul(first, message, s, order, context.pointer), "BN_mod_mul")
        try check(BN_mod_mul(second, r, s, order, context.pointer), "BN_mod_mul")
        return try hasCoordinate(r, first, second, context)
    }

    /// Whether `first` times the base point plus `second` times the key has `r` as its horizontal coordinate modulo the
    /// order.
    private func hasCoordinate(
        _ r: OpaquePointer, _ first: OpaquePointer, _ second: OpaquePointer, _ context: borrowing OwnedPointer
    ) throws(OpenSSLError) -> Bool {
        let sum = try OwnedPointer(EC_POINT_new(group.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
        let addend = try OwnedPointer(EC_POINT_new(group.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
        try check(EC_POINT_mul(group.pointer, sum.pointer, first, nil, nil, context.pointer), "EC_POINT_mul")
        try check(EC_POINT_mul(keyGroup.pointer, addend.pointer, second, nil, nil, context.pointer), "EC_POINT_mul")
        try check(
            EC_POINT_add(group.pointer, sum.pointer, sum.pointer, addend.pointer, context.pointer), "EC_POINT_add")
        if EC_POINT_is_at_infinity(group.pointer, sum.pointer) == 1 { return false }
        guard let x = BN_CTX_get(context.pointer) else { throw OpenSSLError(draining: "BN_CTX_get") }
        try check(
            EC_POINT_get_affine_coordinates(group.pointer, sum.pointer, x, nil, context.pointer),
            "EC_POINT_get_affine_coordinates")
        try check(BN_nnmod(x, x, EC_GROUP_get0_order(group.pointer), context.pointer), "BN_nnmod")
        return BN_cmp(x, r) == 0
    }

    /// Reads a big-endian number into one that the context owns.
    private func number(
        _ bytes: some Collection<UInt8>, _ context: borrowing OwnedPointer
    ) throws(OpenSSLError) -> OpaquePointer {
        guard let number = BN_CTX_get(context.pointer),
            BN_bin2bn(Array(bytes), CInt(bytes.count), number) != nil
        else { throw OpenSSLError(draining: "BN_bin2bn") }
        return number
    }
}
