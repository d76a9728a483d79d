import Testing

@testable import OpenSSL

/// Checks by a table of the key's multiples, which must say what libcrypto's own verification says.
@Suite struct PrecomputedMultiplesTests {
    /// What a table says; an error of its own counts as none, since it would only be hidden by libcrypto's answer.
    private func answer(_ table: PrecomputedMultiples, _ signature: [UInt8], _ digest: [UInt8]) throws -> Bool {
        try signature.withUnsafeBufferPointer { try table.isValid($0, forDigest: digest) }
    }

    @Test(arguments: 0..<4)
    func `a table says what libcrypto says of good and of bent signatures`(number: Int) throws {
        let key = try ECPrivateKey.generate()
        let other = try ECPrivateKey.generate().publicKey
        let table = try PrecomputedMultiples(of: key.publicKey.rawRepresentation)
        let otherTable = try PrecomputedMultiples(of: other.rawRepresentation)
        var counts = (valid: 0, invalid: 0)
        for round in 0..<250 {
            let message = try SecureRandom.bytes(round)
            let digest = try SHA256Digest.digest(message)
            let signature = try key.signature(for: message)
            #expect(try answer(table, signature, digest))
            #expect(try !answer(otherTable, signature, digest))
            for change in try Change.all(round) {
                let (bent, bentDigest) = change.apply(signature, digest)
                guard P256.isRawSignature(bent) else { continue }
                let isValid = try key.publicKey.isValidSignature(bent.span, forDigest: bentDigest)
                #expect(try answer(table, bent, bentDigest) == isValid, "\(change)")
                if isValid { counts.valid += 1 } else { counts.invalid += 1 }
            }
        }
        // n - s signs what s signs.
        #expect(counts.valid >= 250)
        #expect(counts.invalid >= 1000)
        #expect(!key.publicKey.hasPrecomputedMultiples)
    }

    @Test(arguments: SignatureEdgeCase.all)
    func `a table is right about points and numbers at the edges`(edge: SignatureEdgeCase) throws {
        let key = try ECPublicKey(rawRepresentation: edge.key)
        let table = try PrecomputedMultiples(of: edge.key)
        #expect(try answer(table, edge.signature, edge.digest) == edge.isValid)
        #expect(try key.isValidSignature(edge.signature.span, forDigest: edge.digest) == edge.isValid)
    }

    @Test(arguments: SignatureTests.vectors)
    func `a table knows the published answers`(vector: SignatureTests.Vector) throws {
        let table = try PrecomputedMultiples(of: [UInt8](hexadecimal: vector.key))
        let digest = try SHA256Digest.digest(Array(vector.message.utf8))
        #expect(try answer(table, [UInt8](hexadecimal: vector.signature), digest) == vector.isValid)
    }

    @Test func `a key with a table refuses what is no signature`() throws {
        let key = try ECPrivateKey.generate()
        let publicKey = key.publicKey
        try publicKey.precomputeMultiples()
        #expect(publicKey.hasPrecomputedMultiples)
        let message = Array("message".utf8)
        let good = try key.signature(for: message)
        #expect(try publicKey.isValidSignature(good, for: message))
        #expect(try !publicKey.isValidSignature(good, for: message + [0]))
        let zero = [UInt8](repeating: 0, count: 32)
        let above = [UInt8](repeating: 0xFF, count: 32)
        for number in [zero, P256.order, above] {
            #expect(try !publicKey.isValidSignature(number + good.suffix(32), for: message))
            #expect(try !publicKey.isValidSignature(good.prefix(32) + number, for: message))
        }
        for count in [0, 32, 63, 65, 128] {
            #expect(try !publicKey.isValidSignature([UInt8](repeating: 1, count: count), for: message))
        }
        let digest = try SHA256Digest.digest(message)
        #expect(try publicKey.isValidSignature(good.span, forDigest: digest))
        #expect(try !publicKey.isValidSignature(good.span, forDigest: digest.dropLast()))
        #expect(try !publicKey.isValidSignature(good.span, forDigest: digest + [0]))
    }

    @Test func `many tasks check by one table at once`() async throws {
        let key = try ECPrivateKey.generate()
        try key.publicKey.precomputeMultiples()
        let results = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    try (0..<20).allSatisfy { round in
                        let message = Array("\(number) \(round)".utf8)
                        let signature = try key.signature(for: message)
                        return try key.publicKey.isValidSignature(signature, for: message)
                            && !key.publicKey.isValidSignature(signature, for: message + [0])
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: true, count: 16))
    }

    @Test func `there is no table of a point that is not on the curve`() throws {
        var point = try ECPrivateKey.generate().publicKey.rawRepresentation
        point[63] ^= 1
        #expect(throws: OpenSSLError.self) { try PrecomputedMultiples(of: point) }
        #expect(throws: OpenSSLError.self) { try PrecomputedMultiples(of: [UInt8](repeating: 0, count: 64)) }
    }
}

extension PrecomputedMultiplesTests {
    /// What is done to a good signature.
    enum Change {
        case flip(bit: Int)
        case flipDigest(bit: Int)
        case negate
        case replaceR([UInt8])
        case replaceS([UInt8])

        static func all(_ round: Int) throws -> [Change] {
            // Below p - n, where r + n may be a coordinate, too.
            let small = [UInt8](repeating: 0, count: 16) + (try SecureRandom.bytes(16))
            return [
                .flip(bit: round * 37 % 256), .flip(bit: 256 + round * 41 % 256), .flipDigest(bit: round * 43 % 256),
                .negate, .replaceR(small), .replaceS(small), .replaceR(try SecureRandom.bytes(32)),
            ]
        }

        func apply(_ signature: [UInt8], _ digest: [UInt8]) -> (signature: [UInt8], digest: [UInt8]) {
            var signature = signature
            var digest = digest
            switch self {
            case .flip(let bit): signature[bit / 8] ^= 1 << (bit % 8)
            case .flipDigest(let bit): digest[bit / 8] ^= 1 << (bit % 8)
            case .negate: signature = signature.prefix(32) + Big.subtract(P256.order, Array(signature.suffix(32)))
            case .replaceR(let r): signature = r + signature.suffix(32)
            case .replaceS(let s): signature = signature.prefix(32) + s
            }
            return (signature, digest)
        }
    }
}

extension P256 {
    /// Whether both halves are in range, without which no table is asked.
    fileprivate static func isRawSignature(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            isScalar(UnsafeRawBufferPointer(rebasing: bytes[..<32]))
                && isScalar(UnsafeRawBufferPointer(rebasing: bytes[32...]))
        }
    }
}

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
