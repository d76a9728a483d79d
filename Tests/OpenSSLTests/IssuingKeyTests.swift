import OpenSSL
import Testing

@Suite struct IssuingKeyTests {
    @Test(arguments: [IssuingKey.Curve.p256, .p384])
    func aKeyReadsBackAsItWasSaved(_ curve: IssuingKey.Curve) throws {
        let key = try IssuingKey(generating: curve)
        let loaded = try IssuingKey(pkcs8PEM: key.pkcs8PEM())
        #expect(loaded.curve == curve)
        #expect(try loaded.subjectPublicKeyInfo() == key.subjectPublicKeyInfo())
    }

    @Test(arguments: [
        KeyFixtures.encrypted, KeyFixtures.sec1Encrypted, KeyFixtures.rsa, KeyFixtures.secp256k1, "text", "",
    ])
    func anythingElseIsAnErrorAndNoPassphraseIsAskedFor(_ text: String) throws {
        let secret = try SecureBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
        #expect(throws: OpenSSLError.self) { try IssuingKey(pkcs8PEM: secret) }
    }
}
