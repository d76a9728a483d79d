import Testing

@testable import OpenSSL

@Suite struct OrderInverseTests {
    private static let one: [UInt8] = [UInt8](repeating: 0, count: 31) + [1]

    /// The number times its inverse.
    private func product(_ number: [UInt8]) -> [UInt8] {
        let inverse = number.withUnsafeBufferPointer { OrderInverse.inverse(of: $0) }
        return Big.multiply(number, inverse.reversed(), modulo: P256.order)
    }

    @Test func `a number times its inverse is one, at the edges`() {
        for bit in stride(from: 0, to: 256, by: 3) {
            var power = [UInt8](repeating: 0, count: 32)
            power[31 - bit / 8] = 1 << (bit % 8)
            #expect(product(power) == Self.one, "2^\(bit)")
            #expect(product(Big.subtract(P256.order, power)) == Self.one, "n - 2^\(bit)")
        }
    }

    @Test func `a number times its inverse is one, wherever it is`() throws {
        for number in 0..<100 {
            // Digests are spread evenly and the same in each run; of all these, none is out of range.
            let digest = try SHA256Digest.digest(Array("\(number)".utf8))
            #expect(product(digest) == Self.one, "\(number)")
        }
    }

    @Test func `looking for an inverse that there is not ends, and its product is not one`() {
        #expect(product([UInt8](repeating: 0, count: 32)) != Self.one)
        #expect(product(P256.order) != Self.one)
    }
}

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
