import Foundation
import OpenSSL
import Testing

/// Who a certificate is for, and what its key may do.
struct CertificatePurposeTests {
    private func issued(_ change: (inout CertificateBuilder) -> Void) throws -> Certificate {
        var builder = CertificateBuilder.signer(
            "client", notBefore: Date(timeIntervalSince1970: 0), notAfter: Date(timeIntervalSince1970: 4_000_000_000))
        change(&builder)
        return try builder.selfSigned(by: IssuingKey(generating: .p256))
    }

    @Test func `URIs are read in their order, and other names are none`() throws {
        let certificate = try issued {
            $0.alternativeNames = [.dns("a.example"), .uri("urn:b"), .ipAddress("10.0.0.1"), .uri("spiffe://a/b")]
        }
        #expect(certificate.uniformResourceIdentifiers == ["urn:b", "spiffe://a/b"])
        #expect(try issued { _ in }.uniformResourceIdentifiers == [])
    }

    @Test(arguments: ["a b", "spiffe://a/b\0", "a\nb", "a\u{7F}"])
    func `a URI that two programs could read differently makes the names unreadable`(uri: String) throws {
        #expect(try issued { $0.alternativeNames = [.uri("urn:b"), .uri(uri)] }.uniformResourceIdentifiers == nil)
    }

    @Test func `names in an extension that cannot be decoded are unreadable, and so are two extensions`() throws {
        // The marker's value is NULL, which is no list of names.
        let malformed = try issued { $0.markerExtensions = ["2.5.29.17"] }
        #expect(malformed.uniformResourceIdentifiers == nil)
        let twice = try issued {
            $0.alternativeNames = [.uri("urn:b")]
            $0.markerExtensions = ["2.5.29.17"]
        }
        #expect(twice.uniformResourceIdentifiers == nil)
    }

    @Test func `without the extension every usage is allowed, with it those that it names`() throws {
        let free = try issued { $0.keyUsage = [] }
        #expect(free.allows(.digitalSignature) && free.allows(.certificateSigning))
        let signer = try issued { $0.keyUsage = [.digitalSignature] }
        #expect(signer.allows(.digitalSignature))
        #expect(!signer.allows(.certificateSigning) && !signer.allows(.revocationListSigning))
    }
}
