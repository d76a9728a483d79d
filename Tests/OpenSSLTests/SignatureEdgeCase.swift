import Testing

@testable import OpenSSL

/// A key, digest and signature made for one edge.
///
/// With the base point G as key, the private number is 1, and kG for a small k needs no secret.
struct SignatureEdgeCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let key: [UInt8]
    let digest: [UInt8]
    let signature: [UInt8]
    let isValid: Bool

    private static let order = P256.order
    private static let prime = [UInt8](
        hexadecimal: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one: [UInt8] = zero.dropLast() + [1]
    /// The base point.
    private static let x = [UInt8](
        hexadecimal: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    private static let y = [UInt8](
        hexadecimal: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    /// The coordinate of its double.
    private static let doubleX = [UInt8](
        hexadecimal: "7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978")
    private static let g = x + y
    private static let minusG = x + Big.subtract(prime, y)
    private static let digest = [UInt8](repeating: 0x5A, count: 32)
    private static let ones = [UInt8](repeating: 0xFF, count: 32)

    static let all = [
        SignatureEdgeCase("the key is the base point", g, digest, x + Big.add(digest, x, modulo: order), true),
        SignatureEdgeCase(
            "the key is the base point's opposite", minusG, digest,
            x + Big.add(digest, Big.subtract(order, x), modulo: order), true),
        SignatureEdgeCase("the digest is zero", g, zero, x + x, true),
        SignatureEdgeCase("the digest is zero, another signature", g, zero, x + doubleX, false),
        SignatureEdgeCase("the digest is the order, which is zero", g, order, x + x, true),
        SignatureEdgeCase(
            "the digest is above the order", g, ones, x + Big.add(Big.subtract(ones, order), x, modulo: order), true),
        SignatureEdgeCase("both addends are the base point", g, doubleX, doubleX + doubleX, true),
        SignatureEdgeCase(
            "both addends are the base point's opposite", minusG, Big.subtract(order, doubleX),
            doubleX + doubleX, true),
        SignatureEdgeCase(
            "both addends are the base point, with the opposite key", minusG, Big.subtract(order, doubleX),
            doubleX + Big.subtract(order, doubleX), true),
        SignatureEdgeCase("both addends are equal, another r", g, x, x + x, false),
        SignatureEdgeCase("the addends cancel out", g, Big.subtract(order, x), x + digest, false),
        SignatureEdgeCase("the addends cancel out, with the opposite key", minusG, x, x + digest, false),
        SignatureEdgeCase("r and s are one", g, digest, one + one, false),
        SignatureEdgeCase(
            "r and s are the greatest", g, digest, Big.subtract(order, one) + Big.subtract(order, one), false),
        SignatureEdgeCase("s is one", g, Big.subtract(one, x, modulo: order), x + one, true),
        SignatureEdgeCase(
            "s is the greatest", g, Big.subtract(Big.subtract(order, one), x), x + Big.subtract(order, one), true),
    ]

    private init(
        _ description: String, _ key: [UInt8], _ digest: [UInt8], _ signature: [UInt8], _ isValid: Bool
    ) {
        testDescription = description
        self.key = key
        self.digest = digest
        self.signature = signature
        self.isValid = isValid
    }
}
