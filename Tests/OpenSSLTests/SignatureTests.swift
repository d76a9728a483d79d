import OpenSSL
import Testing

@Suite struct SignatureTests {
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    private static let zero = String(repeating: "00", count: 32)

    /// A published or constructed key, message and signature, with what a check must say.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let key: String
        let message: String
        let signature: String
        let isValid: Bool
        var testDescription: String { name }
    }

    static let vectors = [
        Vector(
            name: "RFC 6979, appendix A.2.5, SHA-256 of sample",
            key: "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
            message: "sample",
            signature: "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
                + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
            isValid: true),
        Vector(
            name: "the two addends cancel out, so that their sum is the point at infinity",
            key: "f7c0d0f2728fe1fb1e138ed9a67d5ed40b679170a10609bd3f19859d13b227fa"
                + "584016ead325d3e7433eeacc808ffa59a709edb6b875c73e3d569723bc2ddd76",
            message: "sum at infinity",
            signature: "000000000000000000000000000000001234567890abcdef1234567890abcdef"
                + "000000000000000000000000000055aa55aa55aa55aa55aa55aa55aa55aa55aa",
            isValid: false),
        Vector(
            name: "the two addends are equal, so that their sum is a doubling",
            key: "3c96b391646d083908ebf3df8153f72f78be8d635c2dec15fe8c341d47621b30"
                + "1b0b221cd83867a9c336408526c577a26446df0bb8019dc614c9353500b107a9",
            message: "equal addends",
            signature: "b4ab46cd357a04aa50ba0debd529e3618f6a2d965ffefb4228afa2294974ee1e"
                + "538d2ca1e4a4cb1e26b7bd5b409a6e1bcf81c21e170562446eaaf0d5c005dbd3",
            isValid: true),
        Vector(
            name: "the sum's coordinate exceeds the order, so that r is its remainder",
            key: "f35f04ee95e4716ff498776a9cae4801bfc058a91016c10badf753ef5f79f9eb"
                + "40fb9226f7e25489c23f4f9b01cab13da955afbdc5bc6773c633ef87ce9bb69b",
            message: "coordinate above the order",
            signature: "0000000000000000000000000000000000000000000000000000000000000003"
                + "0000000000000000000000000000000077777777777777777777777777777777",
            isValid: true),
    ]

    @Test(arguments: vectors)
    func knownAnswersHold(_ vector: Vector) throws {
        let key = try ECPublicKey(rawRepresentation: [UInt8](hexadecimal: vector.key))
        let signature = [UInt8](hexadecimal: vector.signature)
        let message = Array(vector.message.utf8)
        #expect(try key.isValidSignature(signature, for: message) == vector.isValid)
    }

    @Test func anyChangeMakesASignatureInvalid() throws {
        let key = try ECPrivateKey.generate()
        let message = Array("message".utf8)
        let signature = try key.signature(for: message)
        for publicKey in [key.publicKey, try ECPublicKey(derRepresentation: key.publicKey.derRepresentation)] {
            #expect(try publicKey.isValidSignature(signature, for: message))
            #expect(try !publicKey.isValidSignature(signature, for: message + [0]))
            #expect(try !publicKey.isValidSignature(signature, for: []))
            for position in signature.indices {
                var bent = signature
                bent[position] ^= 1 << (position % 8)
                #expect(try !publicKey.isValidSignature(bent, for: message), "byte \(position)")
            }
        }
    }

    @Test func signaturesOfManyKeysHoldAndRandomBytesDoNot() throws {
        for _ in 0..<3 {
            let key = try ECPrivateKey.generate()
            for number in 0..<50 {
                let message = try SecureRandom.bytes(number * 7)
                let signature = try key.signature(for: message)
                #expect(signature.count == 64)
                #expect(try key.publicKey.isValidSignature(signature, for: message))
                let random = try SecureRandom.bytes(64)
                #expect(try !key.publicKey.isValidSignature(random, for: message))
            }
        }
    }

    @Test func numbersOutOfRangeAreInvalidNotErrors() throws {
        let key = try ECPrivateKey.generate()
        let message = Array("message".utf8)
        let good = Hexadecimal.encode(try key.signature(for: message))
        let r = String(good.prefix(64))
        let s = String(good.suffix(64))
        let above = String(repeating: "ff", count: 32)
        let bad = [
            Self.zero + s, r + Self.zero, Self.zero + Self.zero, Self.order + s, r + Self.order, above + s, r + above,
            above + above,
        ]
        for publicKey in [key.publicKey, try ECPublicKey(derRepresentation: key.publicKey.derRepresentation)] {
            for signature in bad {
                #expect(try !publicKey.isValidSignature([UInt8](hexadecimal: signature), for: message), "\(signature)")
            }
        }
    }

    @Test(arguments: [0, 1, 32, 63, 65, 72, 128, 4096])
    func otherLengthsAreInvalidNotErrors(_ count: Int) throws {
        let key = try ECPrivateKey.generate().publicKey
        #expect(try !key.isValidSignature([UInt8](repeating: 1, count: count), for: [1, 2, 3]))
    }

    @Test func aSignatureInDERIsNotTakenForARawOne() throws {
        let key = try ECPrivateKey.generate()
        let message = Array("message".utf8)
        let der = try key.derSignature(for: message)
        #expect(try !key.publicKey.isValidSignature(der, for: message))
        #expect(
            try !key.publicKey.isValidSignature(
                der + [UInt8](repeating: 0, count: max(0, 64 - der.count)), for: message))
    }

    @Test func derAndRawSignaturesAreTheSameNumbers() throws {
        let key = try ECPrivateKey.generate()
        // Enough that halves with leading zeros and with a top bit set both come up.
        for number in 0..<600 {
            let message = Array("message \(number)".utf8)
            let der = try key.derSignature(for: message)
            let raw = try #require(rawForm(ofDER: der))
            #expect(try key.publicKey.isValidSignature(raw, for: message), "\(number)")
        }
    }

    /// Reads r‖s out of DER, independently of the module.
    private func rawForm(ofDER der: [UInt8]) -> [UInt8]? {
        guard der.count > 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard rest.popFirst() == 0x02, let count = rest.popFirst() else { return nil }
            let digits = rest.prefix(Int(count)).drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(Int(count))
        }
        return rest.isEmpty ? raw : nil
    }

    @Test func manyTasksCheckWithOneKeyAtOnce() async throws {
        let key = try ECPrivateKey.generate()
        let message = Array("message".utf8)
        let signature = try key.signature(for: message)
        let keys = [key.publicKey, try ECPublicKey(derRepresentation: key.publicKey.derRepresentation)]
        let results = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let own = try key.signature(for: message)
                    return try keys[number % 2].isValidSignature(signature, for: message)
                        && keys[(number + 1) % 2].isValidSignature(own, for: message)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 200)
        #expect(results.allSatisfy { $0 })
    }
}
