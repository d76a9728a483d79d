import Testing

@testable import OpenSSL

struct AuthenticatedEncryptionTests {
    /// A published answer.
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: String
        let nonce: String
        let content: String
        let associatedData: String
        /// In the form ciphertext‖tag.
        let sealed: String
    }

    private static let patternKey = String(repeating: "feffe9928665731c6d6a8f9467308308", count: 2)
    private static let patternContent =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let patternSealed =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

    /// McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", test cases 13 to 16; the last is by the `cryptography`
    /// package of Python.
    private static let vectors = [
        Vector(
            testDescription: "nothing", key: String(repeating: "00", count: 32),
            nonce: String(repeating: "00", count: 12), content: "", associatedData: "",
            sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            testDescription: "a block of zeros", key: String(repeating: "00", count: 32),
            nonce: String(repeating: "00", count: 12), content: String(repeating: "00", count: 16), associatedData: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            testDescription: "whole blocks", key: patternKey, nonce: "cafebabefacedbaddecaf888",
            content: patternContent + "1aafd255", associatedData: "",
            sealed: patternSealed + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
        Vector(
            testDescription: "part of a block, and associated data", key: patternKey,
            nonce: "cafebabefacedbaddecaf888", content: patternContent,
            associatedData: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: patternSealed + "76fc6ece0f4e1768cddf8853bb2d551b"),
        Vector(
            testDescription: "associated data alone", key: patternKey, nonce: "cafebabefacedbaddecaf888", content: "",
            associatedData: "feedfacedeadbeef", sealed: "889bc3a6cc26db8a437e305ccf98ce3e"),
    ]

    private static func secret(_ bytes: [UInt8]) throws -> SecureBytes {
        try SecureBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    private static func bytes(_ secret: SecureBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

    @Test(arguments: vectors)
    func `the published answers are ours, both ways`(vector: Vector) throws {
        let key = try Self.secret([UInt8](hexadecimal: vector.key))
        let nonce = [UInt8](hexadecimal: vector.nonce)
        let associated = [UInt8](hexadecimal: vector.associatedData)
        let content = [UInt8](hexadecimal: vector.content)
        let sealed = try AuthenticatedEncryption.seal(
            Self.secret(content), key: key, nonce: nonce, associatedData: associated)
        #expect(Hexadecimal.encode(sealed) == vector.sealed)
        let opened = try AuthenticatedEncryption.open(nonce + sealed, key: key, associatedData: associated)
        #expect(Self.bytes(opened) == content)
    }

    @Test func `whatever byte is changed, nothing opens`() throws {
        let key = try AuthenticatedEncryption.makeKey()
        let sealed = try AuthenticatedEncryption.seal(
            Self.secret(Array("a secret".utf8)), key: key, associatedData: [1, 2, 3])
        #expect(sealed.count == 8 + AuthenticatedEncryption.overhead)
        for index in sealed.indices {
            for bit in [0x01, 0x80] as [UInt8] {
                var bent = sealed
                bent[index] ^= bit
                #expect(throws: AuthenticatedEncryptionError.notAuthentic) {
                    try AuthenticatedEncryption.open(bent, key: key, associatedData: [1, 2, 3])
                }
            }
        }
        for count in 0..<sealed.count {
            let expected: AuthenticatedEncryptionError =
                count < AuthenticatedEncryption.overhead ? .truncated : .notAuthentic
            #expect(throws: expected) {
                try AuthenticatedEncryption.open(Array(sealed.prefix(count)), key: key, associatedData: [1, 2, 3])
            }
        }
        #expect(throws: AuthenticatedEncryptionError.notAuthentic) {
            try AuthenticatedEncryption.open(sealed + [0], key: key, associatedData: [1, 2, 3])
        }
        for associated in [[], [1, 2], [1, 2, 4], [1, 2, 3, 0]] as [[UInt8]] {
            #expect(throws: AuthenticatedEncryptionError.notAuthentic) {
                try AuthenticatedEncryption.open(sealed, key: key, associatedData: associated)
            }
        }
        let other = try AuthenticatedEncryption.makeKey()
        #expect(throws: AuthenticatedEncryptionError.notAuthentic) {
            try AuthenticatedEncryption.open(sealed, key: other, associatedData: [1, 2, 3])
        }
        #expect(
            Self.bytes(try AuthenticatedEncryption.open(sealed, key: key, associatedData: [1, 2, 3]))
                == Array("a secret".utf8), "nothing of all that has left a trace")
    }

    @Test func `no nonce and no key is drawn twice`() throws {
        let key = try AuthenticatedEncryption.makeKey()
        let content = try Self.secret([7])
        var nonces: Set<[UInt8]> = []
        var keys: Set<[UInt8]> = []
        for _ in 0..<500 {
            let sealed = try AuthenticatedEncryption.seal(content, key: key, associatedData: [])
            nonces.insert(Array(sealed.prefix(AuthenticatedEncryption.nonceCount)))
            keys.insert(Self.bytes(try AuthenticatedEncryption.makeKey()))
        }
        #expect(nonces.count == 500)
        #expect(keys.count == 500 && keys.allSatisfy { $0.count == AuthenticatedEncryption.keyCount })
    }

    @Test(arguments: [0, 1, 16, 24, 31, 33, 64])
    func `a key of another length is refused`(count: Int) throws {
        let key = try Self.secret([UInt8](repeating: 1, count: count))
        let content = try Self.secret([1])
        #expect(throws: AuthenticatedEncryptionError.malformedKey) {
            try AuthenticatedEncryption.seal(content, key: key, associatedData: [])
        }
        #expect(throws: AuthenticatedEncryptionError.malformedKey) {
            try AuthenticatedEncryption.open([UInt8](repeating: 0, count: 40), key: key, associatedData: [])
        }
    }

    @Test func `what is too large is refused, what is as large as it may be is not`() throws {
        let key = try AuthenticatedEncryption.makeKey()
        let largest = try SecureBytes(count: AuthenticatedEncryption.maximumCount) { _ in }
        let sealed = try AuthenticatedEncryption.seal(largest, key: key, associatedData: [])
        #expect(try AuthenticatedEncryption.open(sealed, key: key, associatedData: []).count == largest.count)
        let larger = try SecureBytes(count: AuthenticatedEncryption.maximumCount + 1) { _ in }
        #expect(throws: AuthenticatedEncryptionError.tooLarge) {
            try AuthenticatedEncryption.seal(larger, key: key, associatedData: [])
        }
        #expect(throws: AuthenticatedEncryptionError.tooLarge) {
            try AuthenticatedEncryption.open(sealed + [0], key: key, associatedData: [])
        }
    }
}
