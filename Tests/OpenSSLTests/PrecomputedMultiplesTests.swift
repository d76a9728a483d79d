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
