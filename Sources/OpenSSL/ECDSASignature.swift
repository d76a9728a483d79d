/// The two forms of a P-256 signature: raw r‖s as JOSE wants it (RFC 7518, section 3.4), and the DER of libcrypto and
/// X.509 (RFC 3279, section 2.2.3).
enum ECDSASignature {
    /// Length of r‖s in bytes.
    static let rawCount = 64
    /// The longest DER of two 256-bit integers, in bytes.
    static let maximumDERCount = 72

    /// Writes DER around r‖s.
    ///
    /// - Parameter raw: 64 bytes.
    /// - Returns: The DER, at most 72 bytes.
    static func der(_ raw: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maximumDERCount) { buffer, count in
            var end = 2
            for half in [raw[..<P256.scalarCount], raw[P256.scalarCount...]] {
                let digits = half.drop { $0 == 0 }
                // DER integers are signed: a leading zero keeps one whose top bit is set from being negative, and
                // stands for zero itself.
                let padding = (digits.first ?? 0x80) >= 0x80 ? 1 : 0
                buffer[end] = DERReader.Tag.integer.rawValue
                buffer[end + 1] = UInt8(digits.count + padding)
                end += 2
                if padding == 1 {
                    buffer[end] = 0
                    end += 1
                }
                for digit in digits {
                    buffer[end] = digit
                    end += 1
                }
            }
            buffer[0] = DERReader.Tag.sequence.rawValue
            buffer[1] = UInt8(end - 2)
            count = end
        }
    }

    /// Reads r‖s out of DER, which has one form for each signature.
    ///
    /// - Throws: ``DERReader/Failure`` if it is not a signature of this curve.
    static func raw(_ der: UnsafeRawBufferPointer) throws(DERReader.Failure) -> [UInt8] {
        var outer = DERReader(der)
        var integers = try outer.enter(.sequence)
        var raw: [UInt8] = []
        raw.reserveCapacity(rawCount)
        for _ in 0..<2 {
            let content = try integers.read(.integer)
            // Not empty, not negative, and without a zero too many (X.690, section 8.3.2).
            guard let first = content.first, first < 0x80, content.count == 1 || first != 0 || content[1] >= 0x80 else {
                throw .malformed
            }
            let digits = content.drop { $0 == 0 }
            guard digits.count <= P256.scalarCount else { throw .malformed }
            raw.append(contentsOf: repeatElement(0, count: P256.scalarCount - digits.count))
            raw.append(contentsOf: digits)
        }
        try integers.expectEnd()
        try outer.expectEnd()
        return raw
    }
}
