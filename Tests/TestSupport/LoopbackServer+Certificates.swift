import Foundation
import NIOSSL
import OpenSSL

extension LoopbackServer {
    /// A root and a server certificate for one run.
    struct Certificates {
        /// Where the root is, in PEM.
        let authorityFile: String
        let certificate: NIOSSLCertificate
        let privateKey: NIOSSLPrivateKey

        /// Makes both, and writes the root to a file for clients.
        init(hostName: String) throws {
            let dates = (from: Date.now.addingTimeInterval(-3_600), to: Date.now.addingTimeInterval(86_400))
            let rootKey = try IssuingKey(generating: .p256)
            let root = try CertificateBuilder.authority("Loopback root", notBefore: dates.from, notAfter: dates.to)
                .selfSigned(by: rootKey)
            let key = try IssuingKey(generating: .p256)
            let server = try CertificateBuilder.server([.dns(hostName)], notBefore: dates.from, notAfter: dates.to)
                .issued(to: key.subjectPublicKeyInfo(), by: root, key: rootKey)
            certificate = try NIOSSLCertificate(bytes: server.der, format: .der)
            privateKey = try key.pkcs8PEM().withUnsafeBytes { try NIOSSLPrivateKey(bytes: Array($0), format: .pem) }
            let file = FileManager.default.temporaryDirectory.appending(path: "loopback-\(UUID().uuidString).pem")
            try root.pem().write(to: file, atomically: true, encoding: .utf8)
            authorityFile = file.path
        }

        /// Removes the file.
        func remove() {
            do {
                try FileManager.default.removeItem(atPath: authorityFile)
            } catch {
                assertionFailure("cannot remove \(authorityFile): \(error)")
            }
        }
    }
}
