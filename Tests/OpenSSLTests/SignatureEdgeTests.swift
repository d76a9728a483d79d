import Testing

@testable import OpenSSL

/// Keys, digests and signatures at the edges, as Project Wycheproof looks for them: both ways of verification must take what
/// is valid, refuse everything beside it, and agree.
struct SignatureEdgeTests {
    /// The three answers that there are: of libcrypto, of a bare table, and of a key that has one.
    struct Verifiers {
        let plain: ECPublicKey
        let table: PrecomputedMultiples
        let withTable: ECPublicKey

        init(_ key: [UInt8]) throws {
            plain = try ECPublicKey(rawRepresentation: key)
            withTable = try ECPublicKey(rawRepresentation: key)
            try withTable.precomputeMultiples()
            table = try #require(withTable.table)
        }

        /// What all say; nil where they differ.
        ///
        /// A table by itself is asked only about numbers in range.
        func answer(_ signature: [UInt8], _ digest: [UInt8]) throws -> Bool? {
            var answers: Set = [
                try plain.isValidSignature(signature.span, forDigest: digest),
                try withTable.isValidSignature(signature.span, forDigest: digest),
            ]
            if signature.count == 64, SignatureEdgeTests.isScalar(signature[..<32]),
                SignatureEdgeTests.isScalar(signature[32...]), digest.count == 32
            {
                // An error of its own would be hidden by libcrypto's answer.
                answers.insert(try signature.withUnsafeBufferPointer { try table.isValid($0, forDigest: digest) })
            }
            return answers.count == 1 ? answers.first : nil
        }
    }

    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one: [UInt8] = zero.dropLast() + [1]
    private static let ones = [UInt8](repeating: 0xFF, count: 32)
    private static let order = P256.order
    private static let prime = [UInt8](
        hexadecimal: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")

    private static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }

    @Test(arguments: SignatureEdgeVector.all)
    func `what is valid is taken, and so is its twin with the opposite s`(vector: SignatureEdgeVector) throws {
        let verifiers = try Verifiers(vector.key)
        #expect(try verifiers.answer(vector.r + vector.s, vector.digest) == true)
        #expect(try verifiers.answer(vector.r + Big.subtract(Self.order, vector.s), vector.digest) == true)
    }

    @Test(arguments: SignatureEdgeVector.all)
    func `everything beside it is refused`(vector: SignatureEdgeVector) throws {
        let verifiers = try Verifiers(vector.key)
        let (r, s) = (vector.r, vector.s)
        func wrapped(_ number: [UInt8], plus other: [UInt8]) -> [UInt8] {
            Big.add(number, other, modulo: Self.ones)
        }
        var forged = [
            r + Self.zero, Self.zero + s, Self.zero + Self.zero, r + Self.order, Self.order + s, Self.ones + s,
            r + Self.ones,
            Self.ones + Self.ones, Self.prime + s, r + Self.prime, Self.one + Self.one,
            // The same numbers modulo the order, but out of range.
            wrapped(r, plus: Self.order) + s, r + wrapped(s, plus: Self.order),
            wrapped(r, plus: Self.one) + s, r + wrapped(s, plus: Self.one), Big.subtract(r, Self.one) + s,
            r + Big.subtract(s, Self.one), Big.subtract(Self.order, r) + s,
        ]
        if r != s { forged.append(s + r) }
        for (index, signature) in forged.enumerated() {
            #expect(try verifiers.answer(signature, vector.digest) == false, "forgery \(index)")
        }
        let lengths = [
            [], r, Array((r + s).dropLast()), Array((r + s).dropFirst()), r + s + [0], [0] + r + s, r + s + r + s,
        ]
        for signature in lengths {
            #expect(try verifiers.answer(signature, vector.digest) == false, "\(signature.count) bytes")
        }
        for digest in [
            [], Array(vector.digest.dropLast()), vector.digest + [0], wrapped(vector.digest, plus: Self.one),
        ] {
            #expect(try verifiers.answer(r + s, digest) == false, "a digest of \(digest.count) bytes")
        }
    }

    @Test func `DER instead of the two numbers is refused, however it is written`() throws {
        let key = try ECPrivateKey.generate()
        let verifiers = try Verifiers(key.publicKey.rawRepresentation)
        let message = Array("message".utf8)
        let digest = try SHA256Digest.digest(message)
        let der = try key.derSignature(for: message)
        for bytes in [der, der + [0], Array(der.dropLast())] + Self.wrongForms(der) {
            #expect(try verifiers.answer(bytes, digest) == false)
            let filled = bytes + [UInt8](repeating: 0, count: max(0, 64 - bytes.count))
            #expect(try verifiers.answer(Array(filled.prefix(64)), digest) == false)
        }
    }

    @Test func `a signature is read from DER in its one form alone`() throws {
        let key = try ECPrivateKey.generate()
        for number in 0..<40 {
            let der = try key.derSignature(for: Array("message \(number)".utf8))
            #expect(try der.withUnsafeBytes { try ECDSASignature.raw($0) }.count == 64)
            for (index, form) in Self.wrongForms(der).enumerated() {
                #expect(throws: DERReader.Failure.self, "form \(index)") {
                    try form.withUnsafeBytes { try ECDSASignature.raw($0) }
                }
            }
        }
    }

    /// The DER of a signature with one thing wrong, or in BER.
    private static func wrongForms(_ der: [UInt8]) -> [[UInt8]] {
        let content = Array(der.dropFirst(2))
        let first = Array(content.prefix(2 + Int(content[1])))
        let second = Array(content.dropFirst(first.count))
        func sequence(_ parts: [UInt8]...) -> [UInt8] {
            let joined = parts.flatMap(\.self)
            return [0x30, UInt8(joined.count)] + joined
        }
        func integer(_ digits: [UInt8]) -> [UInt8] { [0x02, UInt8(digits.count)] + digits }
        let digits = Array(first.dropFirst(2))
        return [
            // Lengths: too long a form, indefinite, one less, one more, of nothing.
            [0x30, 0x81, UInt8(content.count)] + content, [0x30, 0x82, 0, UInt8(content.count)] + content,
            [0x30, 0x80] + content + [0, 0], [0x30, UInt8(content.count - 1)] + content,
            [0x30, UInt8(content.count + 1)] + content, [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + content, [0x30], [],
            sequence([0x02, 0x81, UInt8(digits.count)] + digits, second),
            // Elements: none, one, three, something after the end, another tag.
            sequence(), sequence(first), sequence(first, second, first), der + [0], der + [0x05, 0x00],
            sequence([0x05, 0x00], first, second), [0x31] + der.dropFirst(), [0x10] + der.dropFirst(),
            sequence([0x03] + first.dropFirst(), second), sequence([0x22] + first.dropFirst(), second),
            // Numbers: empty, with a zero too many, negative, longer than the curve.
            sequence([0x02, 0x00], second), sequence(integer([0, 0] + digits), second),
            sequence(integer([0x80] + Array(digits.drop { $0 == 0 }.dropFirst())), second),
            sequence(integer([0x01] + [UInt8](repeating: 0, count: 32)), second),
        ]
    }

    @Test func `a point that is not one, or is not written in its one way, makes no key and no table`() throws {
        let key = try ECPrivateKey.generate().publicKey.rawRepresentation
        // On the curve with x = 0; p stands for the same x, but is no coordinate.
        let root = [UInt8](hexadecimal: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        #expect(throws: Never.self) { try Verifiers(Self.zero + root) }
        let x = Array(key.prefix(32))
        let points: [[UInt8]] = [
            Self.zero + Self.zero, Self.prime + root, Self.ones + Self.ones, x + Self.zero, Self.zero + key.suffix(32),
            x + Self.prime, Array(key.suffix(32)) + x, x + x, Self.zero + Self.one, Self.one + Self.zero,
            // On the curve y² = x³ − 3x + 4, whose groups are small.
            Self.zero + Self.zero.dropLast() + [2],
        ]
        for (index, point) in points.enumerated() {
            #expect(throws: PublicKeyError.invalidPoint, "point \(index)") { try ECPublicKey(rawRepresentation: point) }
            #expect(throws: OpenSSLError.self, "point \(index)") { try PrecomputedMultiples(of: point) }
        }
        for bytes in [[4] + key, [2] + x, Array(key.dropLast()), [0]] {
            #expect(throws: PublicKeyError.malformed) { try ECPublicKey(rawRepresentation: bytes) }
        }
    }
}

/// A valid signature at an edge, of a key whose private number nobody knows: key, or digest, were made to fit it.
struct SignatureEdgeVector: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let key: [UInt8]
    let digest: [UInt8]
    let r: [UInt8]
    let s: [UInt8]

    private init(_ description: String, key: String, digest: String, signature: String) {
        testDescription = description
        self.key = [UInt8](hexadecimal: key)
        self.digest = [UInt8](hexadecimal: digest)
        r = [UInt8](hexadecimal: String(signature.prefix(64)))
        s = [UInt8](hexadecimal: String(signature.suffix(64)))
    }

    static let all = [
        SignatureEdgeVector(
            "the key's x is zero",
            key: "0000000000000000000000000000000000000000000000000000000000000000"
                + "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4",
            digest: "65223f2f3465eb3c0d98fb74af590ea61187a23bfc004f7eb2c8a6d7f8b86949",
            signature: "9ecf330ec6631f5ecda7d4651382f24d73cb135a122adf5bbd2031a400451038"
                + "febd9d89d10a9d894089e0e91f5f2d4bcc7bde34a3af2ef9b27bed54bfc6a057"),
        SignatureEdgeVector(
            "the key's x is zero, the other y",
            key: "0000000000000000000000000000000000000000000000000000000000000000"
                + "99b7a386f1d07c29dbcc42a27b5f9449abe3d50de25178e8d7407a95e8b06c0b",
            digest: "51636f38d976be5fe0ff89b96d98424b4f93cc3c4b40c1eb63494ff0aaea01d8",
            signature: "6f3d6576ed39347b6ac50c2801e3549954a213fd2ee743f2670f687600a26217"
                + "865e958188054b0d0c6181ce2bd3eca073a2795cb2e1e83cb1577e0959aa4a2f"),
        SignatureEdgeVector(
            "the key's x is the smallest above zero",
            key: "0000000000000000000000000000000000000000000000000000000000000005"
                + "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc",
            digest: "913122cb347a9b6cd46005ae2e83d330c95b35a6ae7dcbd323811ea5b9032988",
            signature: "3d79f2bc49cd34bd723bdeee5914dccd890eaeec24ec879f0ae7ef073dec3ae4"
                + "cacda300ceb6eeaa72bf3894987521c2a06d3c585d0bf3c6e0b439e4e7197584"),
        SignatureEdgeVector(
            "the key's x is the greatest",
            key: "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc"
                + "e68e641309515ec1da369202838e0adda2b37040614a5f5460c616e871aa3ede",
            digest: "7153747ccfa914abe087fe7b5bcc3f1a4f84959d3b5a3d40298fc662ddea2816",
            signature: "6ad1553d523ad45820ace0371c7f00173953619fc225b460e0e11533d9943786"
                + "3efaa52f5a44282022b8c54117d35eb28fa8f23e2cc92b4bd09c9daa9b5b4ec4"),
        SignatureEdgeVector(
            "the key's x has its lower half zero",
            key: "0000000000000001000000000000000700000000000000000000000000000000"
                + "85775fe4f71f629ac97b4e2b414885a5eb91c3c3a2b9f098d98ab142163fd278",
            digest: "faf77cdb88c1a19affb72c3d65b2c17a2e0b4e4c68098426a0cf8eace9ebad79",
            signature: "c04232aad4b423afcc60125d4a13947210379811ba4ce14eba67424d714b0ac3"
                + "a8801b31656eb9bcb218b1311c91ded999c222f5657a2d65a583d273e349278c"),
        SignatureEdgeVector(
            "the key's x has its upper half zero",
            key: "0000000000000000000000000000000080000000000000000000000000000000"
                + "3ecdbcc47d8353cfbff8e08a9a8adfa1a693f174e93b8367676ea1525c7355c7",
            digest: "a40b902ffa9879be77698b12613e8c353025008097ac6c13950fc38e521c81b8",
            signature: "29fd1af4fb956e6c0220c9279c48f261717ccc6a2d243c9ebe8c9ea40e3d44c9"
                + "b8cf6bfcba12601b6e694e01e74ddca21c11bcfce50d30320df5936d362501da"),
        SignatureEdgeVector(
            "the key's x is just above the order",
            key: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632554"
                + "b7b0f3ef25bcb11057f7ba76eb0cd78ea285aba2e67538111ce200179e4a2dc0",
            digest: "9cbc647fb03a08f0a0b40eda2796ae487d272b5a269d5252a6280c206d54a709",
            signature: "718233844742e1b00193d3011473258caff1e9286cd14f1e08e6c9fdff27699b"
                + "251cd7bcbc79745b37a28e96a5e326c396bf0ea30645ec782e5407a953b105cc"),
        SignatureEdgeVector(
            "the key's x is ones and zeros",
            key: "ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000"
                + "462e0f7377a81a3a47a28e62dd8105687e457496c61fdce49ba1aaeefcf10b44",
            digest: "bfc7bc7e080219ec3d67430c85d362ab0df6f8dc234f828264423e619af1c99d",
            signature: "6a718d521cc8f1df16d0a751e1568415fd7061d693231b27c1970c3517a212ec"
                + "558d310b79954c833a1737080a97b95f4a7eaa0eb0a2f8a504e7c4d888ac2fd1"),
        SignatureEdgeVector(
            "both factors are one",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "e11e427ce17d55b821672b1dfd6f29f0a5e1f06b91daf79191b50c3e5a99ec00",
            signature: "e11e427ce17d55b821672b1dfd6f29f0a5e1f06b91daf79191b50c3e5a99ec00"
                + "e11e427ce17d55b821672b1dfd6f29f0a5e1f06b91daf79191b50c3e5a99ec00"),
        SignatureEdgeVector(
            "factors of two bits",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "5980a610f3a46b97c0b01ad76bd3d4278587ee5dab5fc2a63891603e342e3fd6",
            signature: "f14754b0e96d52ea90eba20f65828dac8f757fda25e37f40380d408ac1cbfbcd"
                + "6cd864f26ecc03a59999a31734f942636cb289c78c4b6797490f494bed3ced5b"),
        SignatureEdgeVector(
            "the greatest factors",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "4b7c665fd2880fd382857d597b3afe7beb2e1b339c4827da66678beaf9397bd6",
            signature: "96f8ccbfa5101fa7050afab2f675fcf7d65c366738904fb4cccf17d5f272f7ac"
                + "b483999f2d77f02d7d7a82a684c50183d1b8df7a0acf76aa8d523ed80329a97b"),
        SignatureEdgeVector(
            "half the order",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "0baa9313982cae8e42e2452a4cb4c7081f15c31ea2ebd44ad5a6a0a8580ee986",
            signature: "f4556ceb67d35172bd1dbad5b34b38f79dd1378f042bca3a1e132a1aa4543bcb"
                + "e8aad9d7cfa6a2e47a3b75ab669671ef7ebb7470613ff5ef486c89724c455245"),
        SignatureEdgeVector(
            "the digest's factor is zero",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "0000000000000000000000000000000000000000000000000000000000000000",
            signature: "4eff843bec92475a8b74d91afe3783f75e3acef5fbe4d5c832de210fa6a236b5"
                + "2fdb5c086af05356387e68286d75a5234d04d3a9a991c778bc5ed88bce25564a"),
        SignatureEdgeVector(
            "long runs of ones",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "b0e896b509282366f26424aa9e19ff68319536994150b32f93990c0eba4e59e0",
            signature: "fdaebfdb1cb52945553268b40ae19de209df87a9b4825295b297a9f276a75c72"
                + "97b68f4cd97c9907995c95d2dadd0879b731aa611e007761a9e49236bad531c2"),
        SignatureEdgeVector(
            "windows all ones",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "6ee4490bf9b59f9e45685596cb06c244181f577442aaa8173d6b02918cc5cc9d",
            signature: "77224862cdacfcef2b42acb6583612218a45cb99200e652b102ab4437104f4f5"
                + "5a4b13c69d6c2f10d69f758ea676be06d792ded6e011402bbb8948a1f8114556"),
        SignatureEdgeVector(
            "windows at their edge",
            key: "602d9279f2f00327f397a670f5fa85dc46b761ddd7f1615ab1d1be187c8ce9da"
                + "1da89524f75c3f7045e88fa5df94b1fa72499add4d7018a0816436188aeb98b2",
            digest: "b0baa0fd854476bf5c931039b16ac575992e4e5d5224471bcfd657386e9b11ea",
            signature: "d7ab08965609e12696b30908d4dca14d3050db0ca131d4d700fa6f2d4fa31013"
                + "64ea0381ab6d0e9571bd83049004e2427b83b876637ccf2bfe16fd0eec00ab12"),
        SignatureEdgeVector(
            "the sum's x is above the order",
            key: "d04e8edd6ae7faac6e8346265b2ec81638fdb59a4fa0de31bdec5344a5a92113"
                + "823a20aee8b41d1d4508bffb566fa9a0b832919f30dae6a95a50673e5279b037",
            digest: "000000005a5a5a00000000000000000000000000000000000000000000000009",
            signature: "0000000000000000000000000000000000000000000000000000000000000003"
                + "000000000000000000abcdef0123456789000000000000000000000000000003"),
        SignatureEdgeVector(
            "the sum's x is above the order, the other y",
            key: "657931e314628f79c3d419dd20c771af00dd2806364e49dc760477fe5c988926"
                + "533734fb8aef097d5b3e94bcf87bea103ee1c2c960ab4267e6cb705c8204bd84",
            digest: "000000005a5a5a00000000000000000000000000000000000000000000000009",
            signature: "0000000000000000000000000000000000000000000000000000000000000003"
                + "000000000000000000abcdef0123456789000000000000000000000000000003"),
        SignatureEdgeVector(
            "r and s are very small",
            key: "19a6dba8e61ac5df721742d4b745c1dfba14d3218c6e2285dd24d8a3440b5e75"
                + "ebcec58a4be150ad3fd9e9a958f1a578a9ec7e92779b5c21ca37924da4010e1c",
            digest: "000000000000000000000000000000000000000000000000000000000000000d",
            signature: "0000000000000000000000000000000000000000000000000000000000000005"
                + "000000000000000000000000000000000000000000000000000000000000000b"),
        SignatureEdgeVector(
            "r and s are very great",
            key: "cbd986d1b5075751cb8ac37c60d05763fde70885589a14c5b0638d6543556279"
                + "39465350161105a0f231ec9ffb336549a0d95675289154391fb65966502b706c",
            digest: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550",
            signature: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254f"
                + "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"),
    ]
}
