import Foundation
import OpenSSL
import Testing

/// Signed data as they are made, read back by the reader.
struct CMSSigningTests {
    private struct Signer {
        let key: IssuingKey
        let certificate: Certificate

        init(_ kind: IssuingKey.Kind) throws {
            key = try IssuingKey(generating: kind)
            certificate = try CertificateBuilder.signer(
                "Signer", notBefore: CertificateFixtures.days(-1), notAfter: CertificateFixtures.days(1)
            ).selfSigned(by: key)
        }

        var cms: CMSSigner { CMSSigner(certificate: certificate, key: key) }
    }

    @Test(arguments: [IssuingKey.Kind.p256, .rsa2048], DigestAlgorithm.allCases)
    func `what is signed reads back, with any key, digest and form`(
        _ kind: IssuingKey.Kind, _ digest: DigestAlgorithm
    ) throws {
        let signer = try Signer(kind)
        // Longer than one piece of an octet string in pieces.
        let content = [UInt8](repeating: 0x5A, count: 100_000)
        for encoding in [CMSSigner.Encoding.der, .indefiniteLengths] {
            for time in [nil, CertificateFixtures.now] {
                var cms = signer.cms
                (cms.digest, cms.encoding, cms.signingTime) = (digest, encoding, time)
                let data = try CMSSignedData(ber: try cms.sign(content))
                let info = try data.signer()
                #expect(data.content == content && data.certificates == [signer.certificate])
                #expect(info.digest == digest && info.hasSignedAttributes == (time != nil))
                #expect(try data.contentMatchesSignedAttributes(of: info) == (time == nil ? nil : true))
                #expect(try data.checkSignature(of: info) == .valid)
            }
        }
    }

    @Test func `RSA signs the same twice, and the time is the one that was given`() throws {
        var cms = try Signer(.rsa2048).cms
        cms.signingTime = CertificateFixtures.now
        #expect(try cms.sign([1, 2, 3]) == cms.sign([1, 2, 3]))
        // UTCTime of 15 June 2025, 15:06:40.
        #expect(try cms.sign([]).firstRange(of: Array("250615150640Z".utf8)) != nil)
    }

    @Test func `other certificates come along, and empty content is content`() throws {
        var cms = try Signer(.rsa2048).cms
        let other = try Signer(.p256).certificate
        cms.otherCertificates = [other]
        let data = try CMSSignedData(ber: try cms.sign([]))
        #expect(data.content == [])
        #expect(data.certificates.count == 2 && data.certificates.contains(other))
        #expect(try data.checkSignature(of: data.signer()) == .valid)
    }

    @Test func `a key that is not the certificate's signs nothing`() throws {
        var cms = try Signer(.rsa2048).cms
        cms.key = try IssuingKey(generating: .rsa2048)
        #expect(throws: OpenSSLError.self) { try cms.sign([1]) }
    }
}
