import Foundation
package import NIOSSL
package import OpenSSL

/// An authority that issues certificates to the servers and clients of a test, while it runs.
package struct TestAuthority: Sendable {
    /// From an hour ago until tomorrow, by the machine's clock, which TLS goes by.
    private static let validity = (from: Date.now.addingTimeInterval(-3_600), to: Date.now.addingTimeInterval(86_400))

    package let certificate: Certificate
    private let key: IssuingKey
    /// From this authority up, without the root, as servers and clients send it.
    private let intermediates: [Certificate]

    /// A root.
    package init(_ name: String = "Test root") throws {
        key = try IssuingKey(generating: .p256)
        certificate = try CertificateBuilder.authority(name, notBefore: Self.validity.from, notAfter: Self.validity.to)
            .selfSigned(by: key)
        intermediates = []
    }

    private init(_ name: String, below issuer: TestAuthority) throws {
        key = try IssuingKey(generating: .p256)
        certificate = try CertificateBuilder.authority(name, notBefore: Self.validity.from, notAfter: Self.validity.to)
            .issued(to: key.subjectPublicKeyInfo(), by: issuer.certificate, key: issuer.key)
        intermediates = [certificate] + issuer.intermediates
    }

    /// An authority that this one has certified.
    package func intermediate(_ name: String = "Test intermediate") throws -> TestAuthority {
        try TestAuthority(name, below: self)
    }

    /// The certificate of a server on this machine.
    package func server() throws -> IssuedCertificate {
        try issue(.server([.dns("localhost")], notBefore: Self.validity.from, notAfter: Self.validity.to))
    }

    /// The certificate of a client.
    ///
    /// `uris`: its subject alternative names; `change`: what is to be different about it.
    package func client(
        _ uris: [String], _ change: (inout CertificateBuilder) -> Void = { _ in }
    ) throws -> IssuedCertificate {
        var builder = CertificateBuilder.signer("client", notBefore: Self.validity.from, notAfter: Self.validity.to)
        builder.extendedKeyUsage = [.clientAuthentication]
        builder.alternativeNames = uris.map { .uri($0) }
        change(&builder)
        return try issue(builder)
    }

    /// A certificate that nobody but its holder vouches for.
    package static func selfSignedClient(_ uris: [String]) throws -> IssuedCertificate {
        let holder = try IssuingKey(generating: .p256)
        var builder = CertificateBuilder.signer("client", notBefore: validity.from, notAfter: validity.to)
        builder.extendedKeyUsage = [.clientAuthentication]
        builder.alternativeNames = uris.map { .uri($0) }
        return try IssuedCertificate(builder.selfSigned(by: holder), [], of: holder)
    }

    private func issue(_ builder: CertificateBuilder) throws -> IssuedCertificate {
        let holder = try IssuingKey(generating: .p256)
        let certificate = try builder.issued(to: holder.subjectPublicKeyInfo(), by: certificate, key: key)
        return try IssuedCertificate(certificate, intermediates, of: holder)
    }
}

/// A certificate with what its holder needs to show it.
package struct IssuedCertificate: Sendable {
    package let certificate: Certificate
    /// Those between it and the root, the nearest first.
    package var intermediates: [Certificate]
    /// PEM of PKCS #8.
    package let privateKey: String

    fileprivate init(_ certificate: Certificate, _ intermediates: [Certificate], of holder: IssuingKey) throws {
        self.certificate = certificate
        self.intermediates = intermediates
        privateKey = try holder.pkcs8PEM().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes it for a server: the chain, and the key, which nobody else may read.
    package func write(chain: String, key: String) throws {
        try chainText().write(toFile: chain, atomically: true, encoding: .utf8)
        try privateKey.write(toFile: key, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    }

    /// The certificate and those above it, in PEM.
    package func chainText() throws -> String { try ([certificate] + intermediates).map { try $0.pem() }.joined() }

    /// What a client connects with that trusts an authority.
    ///
    /// `authority`: whose servers it trusts; `shown`: the certificate that it shows, if any.
    package static func clientContext(
        trusting authority: TestAuthority, showing shown: IssuedCertificate?
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority.certificate.der, format: .der)]
        )
        if let shown {
            configuration.certificateChain = try ([shown.certificate] + shown.intermediates).map {
                .certificate(try NIOSSLCertificate(bytes: $0.der, format: .der))
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(shown.privateKey.utf8), format: .pem))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
