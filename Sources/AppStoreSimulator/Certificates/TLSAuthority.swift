import Foundation
import NIOSSL
import OpenSSL

/// The authority that clients of the simulator trust for TLS; another than the one that signs transactions.
struct TLSAuthority: Sendable {
    let certificate: Certificate
    let key: IssuingKey

    init(certificate: Certificate, key: IssuingKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Makes a new authority.
    init(generatingAt now: Date) throws(OpenSSLError) {
        key = try IssuingKey(generating: .p256)
        certificate = try CertificateBuilder.authority(
            "App Store Simulator TLS", notBefore: now - 86_400, notAfter: now + SigningAuthority.lifetime, pathLength: 0
        ).selfSigned(by: key)
    }

    /// A server's configuration with a new certificate for the local machine, good for 90 days.
    ///
    /// - Parameter now: the real time, by which clients judge the certificate.
    /// - Returns: TLS 1.2 or later; the protocols to negotiate are the listener's business.
    /// - Throws: `OpenSSLError`, `NIOSSLError`
    func serverConfiguration(at now: Date) throws -> TLSConfiguration {
        let serverKey = try IssuingKey(generating: .p256)
        let server = try CertificateBuilder.server(
            [.dns("localhost"), .ipAddress("127.0.0.1"), .ipAddress("::1")], notBefore: now - 86_400,
            notAfter: now + 90 * 86_400
        ).issued(to: serverKey.subjectPublicKeyInfo(), by: certificate, key: key)
        let keyPEM = try serverKey.pkcs8PEM().withUnsafeBytes { Array($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: server.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: keyPEM, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }
}
