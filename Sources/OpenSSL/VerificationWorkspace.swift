import COpenSSL

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
