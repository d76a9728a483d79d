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
