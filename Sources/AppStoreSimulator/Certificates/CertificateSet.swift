import Foundation
import NIOSSL
import OpenSSL

/// All certificates and keys of a simulator: made new, or kept in a folder so that clients' trust outlives a restart.
struct CertificateSet: Sendable {
    let signing: SigningAuthority
    /// Its keys are new each time, since receipts bring their certificates along.
    let receipts: ReceiptIssuer
    let tls: TLSAuthority

    private init(signing: SigningAuthority, tls: TLSAuthority) {
        self.signing = signing
        receipts = ReceiptIssuer(root: signing.root, rootKey: signing.rootKey)
        self.tls = tls
    }

    /// Makes new certificates.
    ///
    /// - Parameters:
    ///   - signingTime: the time by the simulator's clock.
    ///   - realTime: the time by which clients judge TLS certificates.
    /// - Throws: `OpenSSLError`
    init(signingTime: Date, realTime: Date) throws(OpenSSLError) {
        self.init(
            signing: try SigningAuthority(generatingAt: signingTime), tls: try TLSAuthority(generatingAt: realTime))
    }

    /// Loads what a folder keeps, or fills it.
    ///
    /// - Throws: ``StateDirectoryError``, `OpenSSLError` and other errors of the OpenSSL wrapper for files that are not what they were.
    init(keptIn directory: StateDirectory, signingTime: Date, realTime: Date) throws {
        guard try directory.exists(FileName.root) else {
            try self.init(signingTime: signingTime, realTime: realTime)
            try save(in: directory)
            return
        }
        let signing = SigningAuthority(
            root: try directory.certificate(FileName.root), rootKey: try directory.issuingKey(FileName.rootKey),
            intermediate: try directory.certificate(FileName.intermediate),
            intermediateKey: try directory.issuingKey(FileName.intermediateKey),
            leaf: try directory.certificate(FileName.leaf), leafKey: try directory.signingKey(FileName.leafKey))
        let tls = TLSAuthority(
            certificate: try directory.certificate(FileName.tls), key: try directory.issuingKey(FileName.tlsKey))
        self.init(signing: signing, tls: tls)
    }

    /// The names within the folder.
    enum FileName {
        static let root = "root.pem"
        static let rootDER = "root.der"
        static let rootKey = "root.key"
        static let intermediate = "intermediate.pem"
        static let intermediateKey = "intermediate.key"
        static let leaf = "leaf.pem"
        static let leafKey = "leaf.key"
        static let tls = "tls-ca.pem"
        static let tlsKey = "tls-ca.key"
    }

    /// Writes everything; the root last, since its presence says that the rest is there.
    private func save(in directory: StateDirectory) throws {
        try directory.write(signing.rootKey.pkcs8PEM(), to: FileName.rootKey)
        try directory.write(signing.intermediateKey.pkcs8PEM(), to: FileName.intermediateKey)
        try directory.write(signing.leafKey.pkcs8PEM(), to: FileName.leafKey)
        try directory.write(tls.key.pkcs8PEM(), to: FileName.tlsKey)
        try directory.write(Array(signing.intermediate.pem().utf8), to: FileName.intermediate)
        try directory.write(Array(signing.leaf.pem().utf8), to: FileName.leaf)
        try directory.write(Array(tls.certificate.pem().utf8), to: FileName.tls)
        try directory.write(signing.root.der, to: FileName.rootDER)
        try directory.write(Array(signing.root.pem().utf8), to: FileName.root)
    }
}

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
    /// It is also for a name that no resolver knows (RFC 6761, section 6.2), for tests in which the name is what matters.
    ///
    /// - Parameter now: the real time, by which clients judge the certificate.
    /// - Returns: TLS 1.2 or later; the protocols to negotiate are the listener's business.
    /// - Throws: `OpenSSLError`, `NIOSSLError`
    func serverConfiguration(at now: Date) throws -> TLSConfiguration {
        let serverKey = try IssuingKey(generating: .p256)
        let server = try CertificateBuilder.server(
            [.dns("localhost"), .dns("appstore.test"), .ipAddress("127.0.0.1"), .ipAddress("::1")],
            notBefore: now - 86_400, notAfter: now + 90 * 86_400
        ).issued(to: serverKey.subjectPublicKeyInfo(), by: certificate, key: key)
        let keyPEM = try serverKey.pkcs8PEM().withUnsafeBytes { Array($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: server.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: keyPEM, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }
}
