import OpenSSL
import Testing

@Suite struct DigestTests {
    @Test func sha256GivesThePublishedDigests() throws {
        #expect(
            try SHA256Digest.hexadecimalDigest([])
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            try SHA256Digest.hexadecimalDigest(Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            try SHA256Digest.digest([UInt8](repeating: 0x61, count: 1_000_000)).prefix(4) == [0xCD, 0xC7, 0x6E, 0x5C])
    }

    @Test func aBeginningDigestedOnceServesEveryMessage() throws {
        for count in [0, 1, 63, 64, 65, 1000] {
            let beginning = try SecureRandom.bytes(count)
            let prefix = try SHA256Prefix(beginning.span)
            for rest in try [0, 1, 55, 64, 500].map(SecureRandom.bytes) {
                #expect(try prefix.digest(followedBy: rest.span) == SHA256Digest.digest(beginning + rest))
            }
        }
    }

    /// Source: RFC 4231, sections 4.2, 4.3 and 4.7.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func hmacGivesThePublishedCodes(_ key: [UInt8], _ message: String, _ code: String) throws {
        let secret = try SecureBytes(count: key.count) { $0.copyBytes(from: key) }
        #expect(
            try HMACSHA256.authenticationCode(for: Array(message.utf8), key: secret) == [UInt8](hexadecimal: code))
    }

    @Test func comparisonFindsEveryDifference() {
        let bytes = [UInt8](0..<32)
        #expect(constantTimeEqual(bytes, bytes))
        #expect(constantTimeEqual([], []))
        #expect(!constantTimeEqual(bytes, bytes + [0]))
        #expect(!constantTimeEqual(bytes, []))
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 0x80
            #expect(!constantTimeEqual(bytes, other))
        }
    }

    @Test func randomBytesDiffer() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        let draws = try (0..<100).map { _ in try SecureRandom.bytes(16) }
        #expect(draws.allSatisfy { $0.count == 16 })
        #expect(Set(draws).count == 100)
    }
}
