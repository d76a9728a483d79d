import Foundation
import OpenSSL
import Testing

@Suite struct CertificateTests {
    private typealias Fixtures = CertificateFixtures

    @Test func theFieldsAreThoseThatWereIssued() throws {
        let chain = try Fixtures(leaf: {
            $0.commonName = "Käse, Brot"
            $0.organization = "Line\nBreak"
        })
        #expect(chain.leaf.notBefore == Fixtures.days(-10))
        #expect(chain.leaf.notAfter == Fixtures.days(10))
        #expect(chain.leaf.subject == #"CN = "Käse, Brot", O = Line\0ABreak"#)
        #expect(chain.leaf.serialNumber.count == 32)
        #expect(chain.leaf.serialNumber != chain.intermediate.serialNumber)
        #expect(try chain.leaf.publicKey() == chain.leafKey.publicKey)
        #expect(!chain.leaf.isCertificateAuthority)
        #expect(chain.intermediate.isCertificateAuthority)
        #expect(chain.root.isCertificateAuthority)
        #expect(try chain.leaf.sha256Fingerprint() == SHA256Digest.digest(chain.leaf.der))
    }

    @Test func extensionsAreFoundByTheirIdentifier() throws {
        let chain = try Fixtures()
        #expect(chain.leaf.hasExtension(oid: Fixtures.leafMarker))
        #expect(!chain.leaf.hasExtension(oid: Fixtures.intermediateMarker))
        #expect(chain.leaf.hasExtension(oid: "2.5.29.15"), "key usage")
        for oid in ["2.5.29.14", "2.5.29.35", "2.5.29.19"] {
            for certificate in [chain.leaf, chain.intermediate, chain.root] {
                #expect(certificate.hasExtension(oid: oid), "\(oid)")
            }
        }
        #expect(!chain.leaf.hasExtension(oid: "not an identifier"))
    }

    @Test func aKeyOnAnotherCurveIsNamed() throws {
        let chain = try Fixtures()
        #expect(throws: PublicKeyError.otherCurve("P-384")) { try chain.root.publicKey() }
    }

    @Test func pemReadsBackAsTheSameCertificate() throws {
        let chain = try Fixtures()
        let pem = try chain.leaf.pem()
        #expect(pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(try Certificate(pem: pem) == chain.leaf)
        #expect(try Certificate(pem: pem.replacing("\n", with: "\r\n")) == chain.leaf)
        let bundle = try pem + chain.root.pem()
        #expect(throws: CertificateError.severalCertificates) { try Certificate(pem: bundle) }
    }

    @Test func aFileMayBeDERorAnyNumberInPEM() throws {
        let chain = try Fixtures()
        #expect(try Certificate.certificates(inFile: chain.root.der) == [chain.root])
        let bundle = try "A comment\n" + chain.root.pem() + "\n" + chain.intermediate.pem()
        #expect(try Certificate.certificates(inFile: Array(bundle.utf8)) == [chain.root, chain.intermediate])
    }

    @Test func anythingElseIsRefused() throws {
        let chain = try Fixtures()
        let der = chain.leaf.der
        #expect(throws: CertificateError.empty) { try Certificate(der: []) }
        #expect(throws: CertificateError.empty) { try Certificate(pem: "") }
        #expect(throws: CertificateError.empty) { try Certificate.certificates(inFile: Array("text".utf8)) }
        #expect(throws: CertificateError.tooLarge) {
            try Certificate(der: der + [UInt8](repeating: 0, count: Certificate.maximumDERCount))
        }
        for damaged in [[1, 2, 3], Array(der.dropLast()), der + [0]] {
            #expect { try Certificate(der: damaged) } throws: { error in
                guard case .malformed? = error as? CertificateError else { return false }
                return true
            }
        }
        let damagedPEM = try chain.leaf.pem().replacing("MII", with: "M*I")
        #expect { try Certificate(pem: damagedPEM) } throws: { error in
            guard case .malformed? = error as? CertificateError else { return false }
            return true
        }
    }
}
