import Foundation
import Glibc
import NIOCore
import NIOSSL
import OpenSSL

/// The files of a listener's TLS: the certificate that it shows its clients, the key to it, and whose certificates it takes.
package struct ListenerTLS: Sendable, Equatable {
    /// What clients have to show.
    package struct ClientCertificates: Sendable, Equatable {
        /// A PEM file with the certificates of the authorities, roots all of them, that issue to clients.
        package var authoritiesFile: String

        /// Whether a client without a certificate is refused; otherwise it may prove who it is by its requests.
        package var isRequired: Bool

        package init(authoritiesFile: String, isRequired: Bool) {
            self.authoritiesFile = authoritiesFile
            self.isRequired = isRequired
        }
    }

    /// The largest file of authorities that is read, in bytes.
    static let maximumAuthoritiesBytes = 1 << 20

    /// How long a client may take to confirm the end of TLS before its connection is closed all the same: one that was told to
    /// make room must not keep it for long.
    private static let shutdownTimeout = TimeAmount.seconds(1)

    /// A PEM file: the server's certificate, then its intermediates.
    package var certificateChainFile: String

    /// A PEM file with the private key of the first certificate.
    package var privateKeyFile: String

    /// Nil where no certificate is asked for.
    package var clientCertificates: ClientCertificates?

    /// What is spoken behind it (RFC 7301).
    package var applicationProtocol: String

    package init(
        certificateChainFile: String, privateKeyFile: String, clientCertificates: ClientCertificates? = nil,
        applicationProtocol: String = "http/1.1"
    ) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
        self.clientCertificates = clientCertificates
        self.applicationProtocol = applicationProtocol
    }

    /// Does what binding would do with the files, without binding.
    ///
    /// - Throws: `certificateUnusable`, `authoritiesUnusable`.
    package func check() throws(ListenerError.Reason) { _ = try load() }

    /// What the files come to.
    struct Loaded: Sendable {
        let context: NIOSSLContext
        /// The last moment of validity of the server's certificate.
        let notAfter: Date
        /// The authorities of clients in DER, in the file's order.
        let authorities: [[UInt8]]
    }

    /// Reads the files and checks that they belong together; it blocks.
    ///
    /// Nothing below TLS 1.2; the listener's one protocol only (RFC 7301). Names of the authorities are sent, so that a client with several
    /// certificates can choose.
    func load() throws(ListenerError.Reason) -> Loaded {
        try checkPermissions()
        let authorities = try clientAuthorities()
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateChainFile)
            guard let first = chain.first else {
                throw ListenerError.Reason.certificateUnusable("\(certificateChainFile) holds no certificate")
            }
            let key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.shutdownTimeout = Self.shutdownTimeout
            configuration.applicationProtocols = [applicationProtocol]
            if let clientCertificates {
                configuration.trustRoots = .certificates(
                    try authorities.map { try NIOSSLCertificate(bytes: $0.der, format: .der) })
                // The name of a client's machine says nothing of who it is.
                configuration.certificateVerification =
                    clientCertificates.isRequired ? .noHostnameVerification : .optionalVerification
                configuration.sendCANameList = true
            }
            return Loaded(
                context: try NIOSSLContext(configuration: configuration),
                notAfter: Date(timeIntervalSince1970: TimeInterval(first.notValidAfter)),
                authorities: authorities.map(\.der))
        } catch let error as ListenerError.Reason {
            throw error
        } catch {
            // The text names files and faults, never what is in the files.
            throw .certificateUnusable("\(certificateChainFile), \(privateKeyFile): \(error)")
        }
    }

    /// Which files there are, in the state in which they are now; it blocks.
    ///
    /// Two states are equal as long as nobody has written, replaced or removed a file between them.
    func state() -> [FileState?] {
        [certificateChainFile, privateKeyFile, clientCertificates?.authoritiesFile].map { $0.flatMap(FileState.init) }
    }

    /// Group members may read the key, as distributions arrange it for servers; others may not.
    ///
    /// A named pipe in the place of a file would block until a writer comes.
    private func checkPermissions() throws(ListenerError.Reason) {
        var status = stat()
        if stat(certificateChainFile, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw .certificateUnusable("\(certificateChainFile) is not a regular file")
        }
        guard stat(privateKeyFile, &status) == 0 else {
            throw .certificateUnusable("\(privateKeyFile): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .certificateUnusable("\(privateKeyFile) is not a regular file")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw .certificateUnusable("\(privateKeyFile) is open to everybody; run: chmod 0640 \(privateKeyFile)")
        }
    }

    private func clientAuthorities() throws(ListenerError.Reason) -> [Certificate] {
        guard let file = clientCertificates?.authoritiesFile else { return [] }
        let authorities: [Certificate]
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .authoritiesUnusable("\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .authoritiesUnusable("\(file) is not a regular file")
        }
        do {
            let bytes = try handle.read(upToCount: Self.maximumAuthoritiesBytes + 1) ?? Data()
            guard bytes.count <= Self.maximumAuthoritiesBytes else {
                throw ListenerError.Reason.authoritiesUnusable("\(file) has more than 1 MiB")
            }
            authorities = try Certificate.certificates(inFile: Array(bytes))
        } catch let error as ListenerError.Reason {
            throw error
        } catch let error as CertificateError {
            throw .authoritiesUnusable("\(file): \(error)")
        } catch {
            throw .authoritiesUnusable("\(file) cannot be read")
        }
        if let other = authorities.first(where: { !$0.isCertificateAuthority }) {
            throw .authoritiesUnusable("\(file) holds the certificate of something else: \(other.subject)")
        }
        return authorities
    }
}

/// By what a file is told from what stood in its place before.
struct FileState: Sendable, Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let modified: (time_t, Int)
    private let changed: (time_t, Int)

    /// Follows links; nil when there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        modified = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        changed = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }

    static func == (first: FileState, second: FileState) -> Bool {
        first.device == second.device && first.inode == second.inode && first.size == second.size
            && first.modified == second.modified && first.changed == second.changed
    }
}
