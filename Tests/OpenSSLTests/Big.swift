/// Sums, differences and products of 256-bit numbers, big-endian, as slow as they are plain.
enum Big {
    static func subtract(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        bytes(difference(limbs(left), limbs(right)).limbs)
    }

    static func subtract(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) -> [UInt8] {
        add(left, subtract(modulus, right), modulo: modulus)
    }

    static func add(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) -> [UInt8] {
        bytes(sum(limbs(left), limbs(right), limbs(modulus)))
    }

    static func multiply(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) -> [UInt8] {
        let (right, modulus) = (limbs(right), limbs(modulus))
        var product: [UInt64] = [0, 0, 0, 0]
        for limb in limbs(left).reversed() {
            for bit in (0..<64).reversed() {
                product = sum(product, product, modulus)
                if limb >> UInt64(bit) & 1 == 1 { product = sum(product, right, modulus) }
            }
        }
        return bytes(product)
    }

    // Limbs stand lowest first.

    private static func sum(_ left: [UInt64], _ right: [UInt64], _ modulus: [UInt64]) -> [UInt64] {
        var sum: [UInt64] = []
        var carry: UInt64 = 0
        for index in left.indices {
            let (partial, first) = left[index].addingReportingOverflow(right[index])
            let (limb, second) = partial.addingReportingOverflow(carry)
            sum.append(limb)
            carry = first || second ? 1 : 0
        }
        let reduced = difference(sum, modulus)
        return carry == 0 && reduced.isBelow ? sum : reduced.limbs
    }

    private static func difference(_ left: [UInt64], _ right: [UInt64]) -> (limbs: [UInt64], isBelow: Bool) {
        var limbs: [UInt64] = []
        var borrow: UInt64 = 0
        for index in left.indices {
            let (partial, first) = left[index].subtractingReportingOverflow(right[index])
            let (limb, second) = partial.subtractingReportingOverflow(borrow)
            limbs.append(limb)
            borrow = first || second ? 1 : 0
        }
        return (limbs, borrow == 1)
    }

    private static func limbs(_ bytes: [UInt8]) -> [UInt64] {
        (0..<4).map { index in bytes[(24 - index * 8)..<(32 - index * 8)].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    private static func bytes(_ limbs: [UInt64]) -> [UInt8] {
        limbs.reversed().flatMap { limb in (0..<8).map { UInt8(limb >> UInt64(56 - $0 * 8) & 0xFF) } }
    }
}
