import Glibc
import NIOSSL

/// The certificate that a listener shows its clients, and the key to it.
package struct ListenerTLS: Sendable, Equatable {
    /// A PEM file: the server's certificate, then its intermediates.
    package var certificateChainFile: String

    /// A PEM file with the private key of the first certificate.
    package var privateKeyFile: String

    package init(certificateChainFile: String, privateKeyFile: String) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
    }

    /// Does what binding would do with the files, without binding.
    ///
    /// - Throws: `certificateUnusable`.
    package func check() throws(ListenerError.Reason) { _ = try makeContext() }

    /// Group members may read the key, as distributions arrange it for servers; others may not.
    private func checkPermissions() throws(ListenerError.Reason) {
        var status = stat()
        guard stat(privateKeyFile, &status) == 0 else {
            throw .certificateUnusable("\(privateKeyFile): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw .certificateUnusable("\(privateKeyFile) is open to everybody; run: chmod 0640 \(privateKeyFile)")
        }
    }

    /// Reads both files and checks that they belong together.
    ///
    /// Nothing below TLS 1.2; HTTP/1.1 only (RFC 7301).
    func makeContext() throws(ListenerError.Reason) -> NIOSSLContext {
        try checkPermissions()
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateChainFile)
            let key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            // The text names files and faults, never what is in the files.
            throw .certificateUnusable("\(error)")
        }
    }
}
