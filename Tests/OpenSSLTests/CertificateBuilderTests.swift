import Foundation
import OpenSSL
import Testing

@Suite struct CertificateBuilderTests {
    private typealias Fixtures = CertificateFixtures

    @Test func aServersCertificateCarriesItsNames() throws {
        let chain = try Fixtures()
        let names: [CertificateBuilder.AlternativeName] = [
            .dns("localhost"), .ipAddress("127.0.0.1"), .ipAddress("::1"), .uri("spiffe://example/service"),
        ]
        let certificate = try CertificateBuilder.server(names, notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
            .issued(
                to: IssuingKey(generating: .p256).subjectPublicKeyInfo(), by: chain.intermediate,
                key: chain.intermediateKey)
        #expect(certificate.subject == "CN = localhost")
        #expect(certificate.hasExtension(oid: "2.5.29.17"), "subject alternative name")
        #expect(certificate.hasExtension(oid: "2.5.29.37"), "extended key usage")
        for text in [Array("localhost".utf8), [127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]] {
            #expect(certificate.der.firstRange(of: text) != nil)
        }
    }

    @Test func aCommaInANameDoesNotBeginAnother() throws {
        let key = try IssuingKey(generating: .p256)
        let certificate = try CertificateBuilder.server(
            [.dns("a.example,DNS:b.example")], notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1)
        ).selfSigned(by: key)
        #expect(certificate.der.firstRange(of: Array("a.example,DNS:b.example".utf8)) != nil)
    }

    @Test func namesThatCannotBeEncodedAreErrors() throws {
        let key = try IssuingKey(generating: .p256)
        for name in [CertificateBuilder.AlternativeName.ipAddress("300.0.0.1"), .dns("kä.se")] {
            let builder = CertificateBuilder.server([name], notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
            #expect(throws: OpenSSLError.self) { try builder.selfSigned(by: key) }
        }
        var builder = CertificateBuilder.signer("any", notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
        builder.markerExtensions = ["no identifier"]
        #expect(throws: OpenSSLError.self) { try builder.selfSigned(by: key) }
    }

    @Test func anAuthorityGoesOnAfterItsKeyWasSavedAndLoaded() throws {
        for curve in [IssuingKey.Kind.p256, .p384] {
            let chain = try Fixtures(keys: curve)
            let key = try IssuingKey(pkcs8PEM: chain.intermediateKey.pkcs8PEM())
            #expect(key.kind == curve)
            let authority = try Certificate(pem: chain.intermediate.pem())
            let leafKey = try ECPrivateKey.generate()
            var builder = CertificateBuilder.signer("Another", notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
            builder.markerExtensions = [Fixtures.leafMarker]
            let leaf = try builder.issued(to: leafKey.publicKey.derRepresentation, by: authority, key: key)
            #expect(try chain.verify(leaf: leaf).leafPublicKey == leafKey.publicKey)
        }
    }
}

@Suite struct IssuingKeyTests {
    @Test(arguments: [IssuingKey.Kind.p256, .p384])
    func aKeyReadsBackAsItWasSaved(_ curve: IssuingKey.Kind) throws {
        let key = try IssuingKey(generating: curve)
        let loaded = try IssuingKey(pkcs8PEM: key.pkcs8PEM())
        #expect(loaded.kind == curve)
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
