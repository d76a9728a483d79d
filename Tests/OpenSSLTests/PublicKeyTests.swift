import OpenSSL
import Testing

@Suite struct PublicKeyTests {
    private func refusal(_ make: () throws(PublicKeyError) -> ECPublicKey) -> PublicKeyError? {
        do throws(PublicKeyError) {
            _ = try make()
            return nil
        } catch {
            return error
        }
    }

    @Test func everyFormReadsBackAsTheSameKey() throws {
        let key = try ECPrivateKey.generate().publicKey
        #expect(key.rawRepresentation.count == 64)
        #expect(key.derRepresentation.count == 91)
        #expect(try ECPublicKey(rawRepresentation: key.rawRepresentation) == key)
        #expect(try ECPublicKey(derRepresentation: key.derRepresentation) == key)
        let pem = try key.pemRepresentation()
        #expect(pem.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(KeyFixtures.der(ofPEM: pem) == key.derRepresentation)
        #expect(try ECPublicKey(pemRepresentation: pem) == key)
    }

    @Test func aCompressedPointIsTheSameKey() throws {
        let key = try ECPrivateKey.generate().publicKey
        let point = key.rawRepresentation
        let prefix = [UInt8](hexadecimal: "3039301306072a8648ce3d020106082a8648ce3d030107032200")
        let compressed = prefix + [0x02 + point[63] & 1] + point.prefix(32)
        #expect(try ECPublicKey(derRepresentation: compressed) == key)
    }

    @Test func pointsThatAreNotOnTheCurveAreNamed() throws {
        var point = try ECPrivateKey.generate().publicKey.rawRepresentation
        point[63] ^= 1
        #expect(refusal { () throws(PublicKeyError) in try ECPublicKey(rawRepresentation: point) } == .invalidPoint)
        let zero = [UInt8](repeating: 0, count: 64)
        #expect(refusal { () throws(PublicKeyError) in try ECPublicKey(rawRepresentation: zero) } == .invalidPoint)
    }

    @Test func thePointAtInfinityIsRefused() {
        let infinity = [UInt8](hexadecimal: "3019301306072a8648ce3d020106082a8648ce3d03010703020000")
        let error = refusal { () throws(PublicKeyError) in try ECPublicKey(derRepresentation: infinity) }
        #expect(error == .invalidPoint || error == .malformed)
    }

    @Test(arguments: [0, 1, 63, 65, 91])
    func otherLengthsAreMalformed(_ count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        #expect(refusal { () throws(PublicKeyError) in try ECPublicKey(rawRepresentation: bytes) } == .malformed)
        #expect(refusal { () throws(PublicKeyError) in try ECPublicKey(derRepresentation: bytes) } == .malformed)
    }

    @Test func bytesAfterTheEndAreMalformed() throws {
        let der = try ECPrivateKey.generate().publicKey.derRepresentation + [0]
        #expect(refusal { () throws(PublicKeyError) in try ECPublicKey(derRepresentation: der) } == .malformed)
    }

    @Test func otherCurvesAndAlgorithmsAreNamed() throws {
        let p384 = try IssuingKey(generating: .p384).subjectPublicKeyInfo()
        #expect(
            refusal { () throws(PublicKeyError) in try ECPublicKey(derRepresentation: p384) } == .otherCurve("P-384"))
        let ed25519 = [UInt8](hexadecimal: "302a300506032b6570032100") + [UInt8](repeating: 1, count: 32)
        #expect(
            refusal { () throws(PublicKeyError) in try ECPublicKey(derRepresentation: ed25519) }
                == .otherAlgorithm("ED25519"))
        #expect(
            refusal { () throws(PublicKeyError) in try ECPublicKey(pemRepresentation: KeyFixtures.rsa) } == .malformed)
    }
}
