import COpenSSL
import Synchronization

/// The multiples of a key's point, worked out once, with which a signature is checked in about a third of the time.
///
/// libcrypto multiplies the base point of P-256 by a table and every other point without one. Here the key's point is
/// the base point of a second description of the same curve, so that it has a table too: 37 windows of 64 points,
/// 148 KiB, which take as long to make as some 400 checks without it.
/// Source: OpenSSL manual, `EC_GROUP_set_generator(3)`, `EC_POINT_mul(3)`; docs/decisions/0012-precomputed-leaf-keys.md.
///
/// `@unchecked Sendable`: groups and Montgomery contexts do not change after `init`, and libcrypto only reads them; what a
/// check writes to is in a workspace, which it has for itself.
final class PrecomputedMultiples: @unchecked Sendable {
    /// How many workspaces are kept for the next checks; there are as many as checks at the same time.
    private static let maximumIdleWorkspaces = 16

    private let curve: OwnedPointer
    /// The curve with the key's point as its base point.
    private let keyCurve: OwnedPointer
    private let moduloOrder: OwnedPointer
    private let moduloField: OwnedPointer
    private let idle = Mutex<[VerificationWorkspace]>([])

    /// Works the table out, which takes tens of milliseconds.
    ///
    /// - Parameter point: The key's point as x‖y.
    /// - Throws: ``OpenSSLError`` also when libcrypto made no table.
    init(of point: [UInt8]) throws(OpenSSLError) {
        let context = try OwnedPointer(BN_CTX_new(), release: BN_CTX_free, operation: "BN_CTX_new")
        let curve = try P256.makeGroup()
        let keyCurve = try OwnedPointer(
            EC_GROUP_dup(curve.pointer), release: EC_GROUP_free, operation: "EC_GROUP_dup")
        let base = try OwnedPointer(
            EC_POINT_new(keyCurve.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
        // This also checks that the point is on the curve.
        try check(
            EC_POINT_oct2point(keyCurve.pointer, base.pointer, [0x04] + point, point.count + 1, context.pointer),
            "EC_POINT_oct2point")
        // Every point of this curve but infinity has the order of the base point, and the cofactor is 1.
        try check(
            EC_GROUP_set_generator(
                keyCurve.pointer, base.pointer, EC_GROUP_get0_order(curve.pointer),
                EC_GROUP_get0_cofactor(curve.pointer)),
            "EC_GROUP_set_generator")
        try check(copenssl_precompute_multiples(keyCurve.pointer, context.pointer), "EC_GROUP_precompute_mult")
        moduloOrder = try Self.montgomeryContext(EC_GROUP_get0_order(curve.pointer), context)
        moduloField = try Self.montgomeryContext(EC_GROUP_get0_field(curve.pointer), context)
        self.curve = curve
        self.keyCurve = keyCurve
    }

    private static func montgomeryContext(
        _ modulus: OpaquePointer?, _ context: borrowing OwnedPointer
    ) throws(OpenSSLError) -> OwnedPointer {
        let result = try OwnedPointer(
            BN_MONT_CTX_new(), release: BN_MONT_CTX_free, operation: "BN_MONT_CTX_new")
        try check(BN_MONT_CTX_set(result.pointer, modulus, context.pointer), "BN_MONT_CTX_set")
        return result
    }

    /// Checks a signature.
    ///
    /// - Parameters:
    ///   - signature: r‖s, both in 1..<n.
    ///   - digest: SHA-256 of the message.
    /// - Returns: Whether it is the key owner's.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    /// - Note: Source: FIPS 186-5, section 6.4.2.
    func isValid(
        _ signature: UnsafeBufferPointer<UInt8>, forDigest digest: [UInt8]
    ) throws(OpenSSLError) -> Bool {
        let space = try takeWorkspace()
        defer { giveBack(space) }
        try space.load(signature, digest: digest, order: EC_GROUP_get0_order(curve.pointer))
        try invert(UnsafeBufferPointer(rebasing: signature[P256.scalarCount...]), in: space)
        try multiply(in: space)
        if EC_POINT_is_at_infinity(curve.pointer, space.sum.pointer) == 1 { return false }
        return try hasCoordinate(in: space)
    }

    private func takeWorkspace() throws(OpenSSLError) -> VerificationWorkspace {
        if let space = idle.withLock({ $0.popLast() }) { return space }
        return try VerificationWorkspace(curve)
    }

    private func giveBack(_ space: VerificationWorkspace) {
        idle.withLock { idle in
            if idle.count < Self.maximumIdleWorkspaces { idle.append(space) }
        }
    }

    /// Makes 1/s modulo the order, in Montgomery's form, so that a product with it is in the plain one.
    ///
    /// Ours is only believed when its product with s is one; if it were not, libcrypto's would do.
    private func invert(
        _ s: UnsafeBufferPointer<UInt8>, in space: VerificationWorkspace
    ) throws(OpenSSLError) {
        let context = space.context.pointer
        guard BN_lebin2bn(OrderInverse.inverse(of: s), CInt(s.count), space.inverse.pointer) != nil else {
            throw OpenSSLError(draining: "BN_lebin2bn")
        }
        try check(
            BN_to_montgomery(space.inverse.pointer, space.inverse.pointer, moduloOrder.pointer, context),
            "BN_to_montgomery")
        try product(space.factor, space.s, space.inverse, moduloOrder, space)
        if BN_is_one(space.factor.pointer) == 1 { return }
        guard
            BN_mod_inverse(
                space.inverse.pointer, space.s.pointer, EC_GROUP_get0_order(curve.pointer), context) != nil
        else { throw OpenSSLError(draining: "BN_mod_inverse") }
        try check(
            BN_to_montgomery(space.inverse.pointer, space.inverse.pointer, moduloOrder.pointer, context),
            "BN_to_montgomery")
    }

    /// Makes the sum of the base point times e/s and the key's point times r/s.
    private func multiply(in space: VerificationWorkspace) throws(OpenSSLError) {
        let context = space.context.pointer
        try product(space.factor, space.digest, space.inverse, moduloOrder, space)
        try check(
            EC_POINT_mul(curve.pointer, space.sum.pointer, space.factor.pointer, nil, nil, context), "EC_POINT_mul")
        try product(space.factor, space.r, space.inverse, moduloOrder, space)
        try check(
            EC_POINT_mul(keyCurve.pointer, space.addend.pointer, space.factor.pointer, nil, nil, context),
            "EC_POINT_mul")
        try check(
            EC_POINT_add(curve.pointer, space.sum.pointer, space.sum.pointer, space.addend.pointer, context),
            "EC_POINT_add")
    }

    /// Whether the sum's coordinate x leaves the remainder r modulo the order.
    ///
    /// x is X/Z² modulo the field's prime, which is above the order, so that x is r or r + n. Comparing X with r·Z² saves
    /// the division.
    private func hasCoordinate(in space: VerificationWorkspace) throws(OpenSSLError) -> Bool {
        let context = space.context.pointer
        try check(
            copenssl_jacobian_coordinates(
                curve.pointer, space.sum.pointer, space.x.pointer, space.z.pointer, context),
            "EC_POINT_get_Jprojective_coordinates_GFp")
        try check(
            BN_to_montgomery(space.z.pointer, space.z.pointer, moduloField.pointer, context), "BN_to_montgomery")
        try product(space.z, space.z, space.z, moduloField, space)
        try product(space.factor, space.r, space.z, moduloField, space)
        if BN_cmp(space.factor.pointer, space.x.pointer) == 0 { return true }
        try check(
            BN_add(space.r.pointer, space.r.pointer, EC_GROUP_get0_order(curve.pointer)), "BN_add")
        guard BN_cmp(space.r.pointer, EC_GROUP_get0_field(curve.pointer)) < 0 else { return false }
        try product(space.factor, space.r, space.z, moduloField, space)
        return BN_cmp(space.factor.pointer, space.x.pointer) == 0
    }

    /// Multiplies by Montgomery's method, of whose factors one is in his form or, for a result in it, both.
    private func product(
        _ result: borrowing OwnedPointer, _ first: borrowing OwnedPointer, _ second: borrowing OwnedPointer,
        _ modulus: borrowing OwnedPointer, _ space: VerificationWorkspace
    ) throws(OpenSSLError) {
        try check(
            BN_mod_mul_montgomery(
                result.pointer, first.pointer, second.pointer, modulus.pointer, space.context.pointer),
            "BN_mod_mul_montgomery")
    }
}

/// The numbers and points that one check of a signature writes to, kept for the next one.
///
/// `@unchecked Sendable`: one check at a time has it; the lock of the pool hands it from thread to thread.
final class VerificationWorkspace: @unchecked Sendable {
    let context: OwnedPointer
    let r: OwnedPointer
    let s: OwnedPointer
    let digest: OwnedPointer
    let inverse: OwnedPointer
    let factor: OwnedPointer
    let x: OwnedPointer
    let z: OwnedPointer
    let sum: OwnedPointer
    let addend: OwnedPointer

    init(_ curve: borrowing OwnedPointer) throws(OpenSSLError) {
        context = try OwnedPointer(BN_CTX_new(), release: BN_CTX_free, operation: "BN_CTX_new")
        r = try Self.number()
        s = try Self.number()
        digest = try Self.number()
        inverse = try Self.number()
        factor = try Self.number()
        x = try Self.number()
        z = try Self.number()
        sum = try Self.point(curve)
        addend = try Self.point(curve)
    }

    private static func number() throws(OpenSSLError) -> OwnedPointer {
        try OwnedPointer(BN_new(), release: BN_free, operation: "BN_new")
    }

    private static func point(_ curve: borrowing OwnedPointer) throws(OpenSSLError) -> OwnedPointer {
        try OwnedPointer(EC_POINT_new(curve.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
    }

    /// Takes in what is to be checked.
    ///
    /// - Parameters:
    ///   - signature: r‖s.
    ///   - digest: 32 bytes, of which the remainder modulo the order counts.
    ///   - order: That of the curve.
    /// - Throws: ``OpenSSLError`` when there is no memory.
    func load(
        _ signature: UnsafeBufferPointer<UInt8>, digest: [UInt8], order: OpaquePointer?
    ) throws(OpenSSLError) {
        try load(r, signature[..<P256.scalarCount])
        try load(s, signature[P256.scalarCount...])
        try digest.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in try load(self.digest, bytes[...]) }
        // Both have 256 bits, and the order's first is set.
        if BN_cmp(self.digest.pointer, order) >= 0 {
            try check(BN_sub(self.digest.pointer, self.digest.pointer, order), "BN_sub")
        }
    }

    private func load(
        _ number: borrowing OwnedPointer, _ bytes: Slice<UnsafeBufferPointer<UInt8>>
    ) throws(OpenSSLError) {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        guard BN_bin2bn(bytes.baseAddress, CInt(bytes.count), number.pointer) != nil else {
            throw OpenSSLError(draining: "BN_bin2bn")
        }
    }
}
