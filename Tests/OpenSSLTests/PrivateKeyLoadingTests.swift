import Foundation
import OpenSSL
import Testing

@Suite struct PrivateKeyLoadingTests {
    /// Loads the text and returns the refusal, or nil if there is none.
    private func refusal(_ text: String) -> PrivateKeyError? { refusal(Array(text.utf8)) }

    private func refusal(_ bytes: [UInt8]) -> PrivateKeyError? {
        do throws(PrivateKeyError) {
            _ = try ECPrivateKey(pkcs8PEM: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func aKeySignsTheSameAfterBeingSavedAndLoaded() throws {
        let made = try ECPrivateKey.generate()
        let loaded = try ECPrivateKey(pkcs8PEM: made.pkcs8PEM())
        #expect(loaded.publicKey == made.publicKey)
        let message = Array("message".utf8)
        #expect(try made.publicKey.isValidSignature(loaded.signature(for: message), for: message))
    }

    @Test func windowsLineEndsAndBlanksAreFine() throws {
        let pem = try KeyFixtures.pkcs8PEM()
        #expect(refusal(pem.replacing("\n", with: "\r\n")) == nil)
        #expect(refusal("\n \t\n" + pem.replacing("\n", with: " \t\n\n") + "\n   \n\n") == nil)
        #expect(refusal(String(pem.dropLast())) == nil, "no line end after the last line")
    }

    @Test func aKeyOfOneLongLineIsFine() throws {
        #expect(try refusal(KeyFixtures.pem(KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM()))) == nil)
    }

    @Test(arguments: ["", " ", "\r\n\n\t \n"])
    func nothingIsEmpty(_ text: String) {
        #expect(refusal(text) == .empty)
    }

    @Test func aByteOrderMarkIsNamed() throws {
        #expect(try refusal("\u{FEFF}" + KeyFixtures.pkcs8PEM()) == .byteOrderMark)
    }

    @Test func binaryDERIsNamed() throws {
        #expect(try refusal(KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())) == .derEncoded)
    }

    @Test(arguments: ["MIGHAgEAMBMG", "{\"key\": 1}", "----BEGIN PRIVATE KEY----"])
    func anythingElseIsNotPEM(_ text: String) {
        #expect(refusal(text) == .notPEM)
    }

    @Test func everyKindOfOtherKeyIsNamed() throws {
        #expect(refusal(KeyFixtures.rsa) == .rsaKey)
        #expect(refusal(KeyFixtures.rsaTraditional) == .rsaKey)
        #expect(refusal(KeyFixtures.ed25519) == .otherAlgorithm("ED25519"))
        #expect(refusal(KeyFixtures.secp256k1) == .otherCurve("secp256k1"))
        #expect(refusal(KeyFixtures.explicitParameters) == .otherCurve("with explicit parameters"))
        let p384 = try KeyFixtures.text(of: IssuingKey(generating: .p384).pkcs8PEM())
        #expect(refusal(p384) == .otherCurve("P-384"))
    }

    @Test func everyOtherFormIsNamed() throws {
        #expect(refusal(KeyFixtures.sec1) == .notPKCS8)
        #expect(refusal(KeyFixtures.sec1WithParameters) == .notPKCS8)
        #expect(refusal(KeyFixtures.sec1Encrypted) == .encryptedPEM)
        #expect(refusal(KeyFixtures.encrypted) == .encryptedPEM)
        #expect(refusal(KeyFixtures.certificateRequest) == .otherBlock(.certificateRequest))
        let publicKey = try ECPrivateKey.generate().publicKey.pemRepresentation()
        #expect(refusal(publicKey) == .publicKey)
        let certificate = try CertificateBuilder.authority("any", notBefore: .now, notAfter: .now)
            .selfSigned(by: IssuingKey(generating: .p256))
        #expect(try refusal(certificate.pem()) == .certificate)
    }

    @Test func severalBlocksAreNamed() throws {
        let pem = try KeyFixtures.pkcs8PEM()
        #expect(refusal(pem + pem) == .severalBlocks)
        #expect(refusal(pem + KeyFixtures.certificateRequest) == .severalBlocks)
    }

    @Test func textAroundTheBlockIsNamed() throws {
        let pem = try KeyFixtures.pkcs8PEM()
        #expect(refusal("Bag Attributes\n" + pem) == .textOutsideBlock)
        #expect(refusal(pem + "MIGH\n") == .textOutsideBlock)
    }

    @Test func everyShorterFileIsTruncatedOrNotPEM() throws {
        let pem = try KeyFixtures.pkcs8PEM().trimmingCharacters(in: .newlines)
        for count in 1..<pem.count {
            let error = refusal(String(pem.prefix(count)))
            #expect(error == (count < "-----BEGIN".count ? .notPEM : .truncated), "\(count) characters")
        }
    }

    @Test func everyShorterContentIsTruncated() throws {
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())
        for count in 1..<der.count {
            #expect(refusal(KeyFixtures.pem(Array(der.prefix(count)))) == .truncated, "\(count) bytes")
        }
    }

    @Test func contentThatIsNotPKCS8IsMalformed() throws {
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())
        #expect(refusal(KeyFixtures.pem(der + [0])) == .malformed)
        #expect(refusal(KeyFixtures.pem([0x31] + der.dropFirst())) == .malformed)
        #expect(try refusal(KeyFixtures.pkcs8PEM().replacing("M", with: "*")) == .malformed)
    }

    @Test func noSingleFlippedBitCrashesOrGoesUnnoticed() throws {
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())
        let original = try ECPrivateKey(pkcs8PEM: Array(KeyFixtures.pem(der).utf8)).publicKey
        for position in der.indices {
            for bit in 0..<8 {
                var bent = der
                bent[position] ^= 1 << bit
                guard let key = try? ECPrivateKey(pkcs8PEM: Array(KeyFixtures.pem(bent).utf8)) else { continue }
                // Only the version numbers and the tag of a part that is passed over may differ without changing the
                // key.
                #expect(key.publicKey == original, "byte \(position), bit \(bit)")
            }
        }
    }

    @Test func aPrivateNumberOutOfRangeIsNamed() throws {
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())
        let scalar = 36..<68
        let order = [UInt8](hexadecimal: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for number in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32)] {
            #expect(
                refusal(KeyFixtures.pem(der[..<scalar.lowerBound] + number + der[scalar.upperBound...]))
                    == .invalidScalar)
        }
        var lowest = der
        lowest.replaceSubrange(scalar, with: [UInt8](repeating: 0, count: 31) + [1])
        #expect(refusal(KeyFixtures.pem(lowest)) == .publicKeyMismatch)
    }

    @Test func aPublicKeyOfAnotherKeyIsNamed() throws {
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.pkcs8PEM())
        let other = try ECPrivateKey.generate().publicKey.rawRepresentation
        #expect(refusal(KeyFixtures.pem(der.dropLast(64) + other)) == .publicKeyMismatch)
    }

    @Test func aKeyWithoutItsPublicHalfLoads() throws {
        let made = try ECPrivateKey.generate()
        let der = try KeyFixtures.der(ofPEM: KeyFixtures.text(of: made.pkcs8PEM()))
        // Version and algorithm stay; of the inner structure only version and private number.
        let algorithm = Array(der[6..<27])
        let inner = Array(der[31..<68])
        let key = [0x04, UInt8(inner.count + 2), 0x30, UInt8(inner.count)] + inner
        let info = [0x02, 0x01, 0x00] + algorithm + key
        let loaded = try ECPrivateKey(pkcs8PEM: Array(KeyFixtures.pem([0x30, UInt8(info.count)] + info).utf8))
        #expect(loaded.publicKey == made.publicKey)
    }

    @Test func everyRefusalSaysWhatToDo() {
        let refusals: [PrivateKeyError] = [
            .empty, .byteOrderMark, .derEncoded, .notPEM, .truncated, .textOutsideBlock, .severalBlocks,
            .lineBreaksMissing, .escapedLineBreaks, .base64OfFile, .quoted,
            .encryptedPEM, .publicKey, .certificate, .otherBlock(.cms), .otherBlock(nil), .notPKCS8, .rsaKey,
            .otherCurve("P-384"), .otherAlgorithm("ED25519"), .malformed, .invalidScalar, .publicKeyMismatch,
        ]
        for refusal in refusals {
            #expect(refusal.description.contains(";") || refusal.description.contains(":"), "\(refusal)")
        }
        #expect(Set(refusals.map(\.description)).count == refusals.count)
    }
}
