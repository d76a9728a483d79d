/// One over a number modulo the order n of P-256, for numbers that are no secret: how long it takes depends on them.
///
/// libcrypto's own takes longer than one of the two multiplications of a point that a check of a signature consists of.
/// The division steps here look at nothing but the lowest bits of two numbers, so that 62 of them are worked out in one
/// machine word as a matrix, and the matrix is then applied to the long numbers.
/// Source: Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", 2019, section 8; in the
/// variable-time form with as many steps at once as there are zero bits.
enum OrderInverse {
    /// The 62 bits of a limb; the last one has the sign.
    private static let mask: Int64 = (1 << 62) - 1
    private static let limbCount = 5
    /// n in limbs, lowest first.
    private static let order = P256.order.withUnsafeBufferPointer(limbs)
    /// 1/n modulo 2⁶², of which each round of Newton's method makes twice as many bits right.
    private static let inverseOfOrder = (0..<6).reduce(into: Int64(1)) { inverse, _ in
        inverse = inverse &* (2 &- order[0] &* inverse)
    }

    /// What 62 steps do to two numbers: 2⁶² times the new ones are (u·x + v·y, q·x + r·y).
    private struct Matrix {
        var u: UInt64 = 1
        var v: UInt64 = 0
        var q: UInt64 = 0
        var r: UInt64 = 1
    }

    /// The inverse.
    ///
    /// - Parameter number: 32 bytes, big-endian, in 1..<n.
    /// - Returns: 32 bytes, little-endian; to be checked by multiplying.
    static func inverse(of number: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let zero = [Int64](repeating: 0, count: limbCount)
        var (f, g) = (order, limbs(number))
        var (d, e) = (zero, zero)
        e[0] = 1
        var eta = -1
        // At each turn number·d is f and number·e is g modulo n, up to a common power of two that `apply` takes out; f
        // ends as 1 or -1. Ten turns suffice for 256 bits; the bound is for a number that has no inverse.
        for _ in 0..<12 where g.contains(where: { $0 != 0 }) {
            let matrix = steps(&eta, UInt64(bitPattern: f[0]), UInt64(bitPattern: g[0]))
            apply(matrix, &d, &e, isModular: true)
            apply(matrix, &f, &g, isModular: false)
        }
        var inverse = zero
        add(f[limbCount - 1] < 0 ? -1 : 1, times: d, to: &inverse)
        while inverse[limbCount - 1] >= 0 { add(-1, times: order, to: &inverse) }
        while inverse[limbCount - 1] < 0 { add(1, times: order, to: &inverse) }
        return bytes(inverse)
    }

    /// Works out 62 division steps from the lowest bits of f, which is odd, and g.
    private static func steps(_ eta: inout Int, _ f: UInt64, _ g: UInt64) -> Matrix {
        var (f, g, matrix, left) = (f, g, Matrix(), 62)
        while true {
            // Halve g as long as it is even.
            let zeros = (g | UInt64.max &<< UInt64(left)).trailingZeroBitCount
            g &>>= UInt64(zeros)
            matrix.u &<<= UInt64(zeros)
            matrix.v &<<= UInt64(zeros)
            eta -= zeros
            left -= zeros
            guard left > 0 else { return matrix }
            if eta < 0 {
                eta = -eta
                (f, g) = (g, 0 &- f)
                (matrix.u, matrix.q) = (matrix.q, 0 &- matrix.u)
                (matrix.v, matrix.r) = (matrix.r, 0 &- matrix.v)
            }
            // Add the multiple of f that clears up to six bits of g, but no more than steps are left until the next swap.
            let count = min(eta + 1, left, 6)
            let factor = (f &* g &* (f &* f &- 2)) & ((1 &<< UInt64(count)) - 1)
            g &+= f &* factor
            matrix.q &+= matrix.u &* factor
            matrix.r &+= matrix.v &* factor
        }
    }

    /// Replaces x and y by the matrix times both, divided by 2⁶²; modulo n, if they are not divisible, by adding multiples
    /// of n first.
    private static func apply(_ matrix: Matrix, _ x: inout [Int64], _ y: inout [Int64], isModular: Bool) {
        let (u, v) = (Int64(bitPattern: matrix.u), Int64(bitPattern: matrix.v))
        let (q, r) = (Int64(bitPattern: matrix.q), Int64(bitPattern: matrix.r))
        var forX: Int64 = 0
        var forY: Int64 = 0
        if isModular {
            // Both stay above -2n and below n.
            let (signX, signY) = (x[limbCount - 1] >> 63, y[limbCount - 1] >> 63)
            forX = multiple(of: u &* x[0] &+ v &* y[0], (u & signX) &+ (v & signY))
            forY = multiple(of: q &* x[0] &+ r &* y[0], (q & signX) &+ (r & signY))
        }
        let order = order
        var sumX: Int128 = 0
        var sumY: Int128 = 0
        for index in 0..<limbCount {
            let (oldX, oldY, modulus) = (Int128(x[index]), Int128(y[index]), Int128(order[index]))
            sumX &+= Int128(u) &* oldX &+ Int128(v) &* oldY &+ Int128(forX) &* modulus
            sumY &+= Int128(q) &* oldX &+ Int128(r) &* oldY &+ Int128(forY) &* modulus
            if index > 0 {
                x[index - 1] = Int64(truncatingIfNeeded: sumX) & mask
                y[index - 1] = Int64(truncatingIfNeeded: sumY) & mask
            }
            sumX >>= 62
            sumY >>= 62
        }
        x[limbCount - 1] = Int64(truncatingIfNeeded: sumX)
        y[limbCount - 1] = Int64(truncatingIfNeeded: sumY)
    }

    /// How many times n to add so that the lowest 62 bits become zero: `start` or up to 2⁶² less.
    private static func multiple(of lowest: Int64, _ start: Int64) -> Int64 {
        start &- ((inverseOfOrder &* lowest &+ start) & mask)
    }

    private static func add(_ factor: Int64, times addend: [Int64], to number: inout [Int64]) {
        var sum: Int64 = 0
        for index in 0..<limbCount {
            sum &+= number[index] &+ factor &* addend[index]
            number[index] = index < limbCount - 1 ? sum & mask : sum
            sum >>= 62
        }
    }

    /// The limbs of 32 bytes, big-endian.
    private static func limbs(_ bytes: UnsafeBufferPointer<UInt8>) -> [Int64] {
        var limbs = [Int64](repeating: 0, count: limbCount)
        for (index, byte) in bytes.reversed().enumerated() {
            let (limb, shift) = (index * 8).quotientAndRemainder(dividingBy: 62)
            limbs[limb] |= Int64(byte) << Int64(shift) & mask
            if shift > 54 { limbs[limb + 1] |= Int64(byte) >> Int64(62 - shift) }
        }
        return limbs
    }

    /// The lowest 256 bits, little-endian.
    private static func bytes(_ limbs: [Int64]) -> [UInt8] {
        (0..<P256.scalarCount).map { index in
            let (limb, shift) = (index * 8).quotientAndRemainder(dividingBy: 62)
            let upper = shift > 54 ? limbs[limb + 1] << Int64(62 - shift) : 0
            return UInt8(truncatingIfNeeded: limbs[limb] >> Int64(shift) | upper)
        }
    }
}
