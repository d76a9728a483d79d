package import Foundation
import Glibc
import Logging
import NIOCore
import NIOSSL
import OpenSSL
import Synchronization

/// What a connection proves of its client, before any request says anything.
package struct ConnectionPeer: Sendable, Equatable {
    /// What the kernel noted of the process that connected to a Unix socket.
    ///
    /// Source: unix(7), `SO_PEERCRED`
    package struct Credentials: Sendable, Equatable {
        package let uid: UInt32
        package let gid: UInt32
    }

    /// What a client's certificate says, which leads to an authority of the listener's and may authenticate clients.
    package struct VerifiedCertificate: Sendable, Equatable {
        /// Its subject alternative names that are URIs, in its order.
        package let uris: [String]
        /// The last moment of its validity, which the connection may outlive.
        package let notAfter: Date
    }

    /// Nil over TCP.
    package internal(set) var credentials: Credentials?
    /// Nil where the client showed no certificate.
    package internal(set) var certificate: VerifiedCertificate?
}

/// Where the handlers of a connection note what it proves, for the responder to read.
final class PeerRecord: Sendable {
    private let peer = Mutex(ConnectionPeer())

    var value: ConnectionPeer { peer.withLock(\.self) }

    func note(_ credentials: ConnectionPeer.Credentials) { peer.withLock { $0.credentials = credentials } }
    func note(_ certificate: ConnectionPeer.VerifiedCertificate) { peer.withLock { $0.certificate = certificate } }

    /// Asks the kernel who has connected to a Unix socket; called on the channel's event loop, once.
    ///
    /// - Returns: fails when the kernel does not tell.
    func noteCredentials(of channel: any Channel) -> EventLoopFuture<Void> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(PeerUnknownError())
        }
        // `struct ucred` of unix(7), which Glibc's module leaves out: pid, uid, gid. Swift lays a tuple of equal types out as C
        // does an array, and the kernel fills all of it or fails.
        let answer: EventLoopFuture<(UInt32, UInt32, UInt32)> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return answer.flatMapThrowing { _, uid, gid in
            // The kernel's sign that it knows nobody, as of a socket that was never connected.
            guard uid != .max, gid != .max else { throw PeerUnknownError() }
            self.note(ConnectionPeer.Credentials(uid: uid, gid: gid))
        }
    }
}

/// The kernel does not say who has connected.
struct PeerUnknownError: Error, CustomStringConvertible {
    var description: String { "the kernel does not say who has connected" }
}

/// Why a certificate, though an authority has issued it, proves nothing.
enum ClientCertificateRefusal: String, Error {
    case unreadable = "it cannot be read, or its names cannot"
    case authority = "it is an authority's"
    case severalURIs = "it has a SPIFFE ID and other URIs besides"

    /// Whom a certificate names, that the TLS library has verified.
    ///
    /// A name with the scheme `spiffe` makes it an X.509-SVID, which has no other URI. No certificate of an authority is
    /// a client's, whatever its names.
    ///
    /// Source: X.509-SVID sections 2, 4.1, 4.3 and 5.2 (SPIFFE)
    static func names(ofVerified der: [UInt8]) throws(ClientCertificateRefusal) -> ConnectionPeer.VerifiedCertificate {
        guard let certificate = try? Certificate(der: der), let uris = certificate.uniformResourceIdentifiers else {
            throw .unreadable
        }
        guard !certificate.isCertificateAuthority, !certificate.signsForOthers else { throw .authority }
        let isSPIFFE = uris.contains { $0.prefix(7).lowercased() == "spiffe:" }
        guard !isSPIFFE || uris.count == 1 else { throw .severalURIs }
        return ConnectionPeer.VerifiedCertificate(uris: uris, notAfter: certificate.notAfter)
    }
}

extension Certificate {
    /// Whether its key usage, which it need not have, lets it sign certificates or revocations.
    fileprivate var signsForOthers: Bool {
        hasExtension(oid: "2.5.29.15") && (allows(.certificateSigning) || allows(.revocationListSigning))
    }
}

/// Takes the names out of a client's certificate when the handshake is over, and lets nothing pass from a client whose
/// certificate proves nothing.
///
/// It stands between TLS and HTTP. What arrives there was sent after the handshake, in which the library has verified the
/// certificate; a resumed session has the one of its first handshake.
final class PeerCertificateHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let peer: PeerRecord
    private let logger: Logger
    private var isRefused = false

    init(peer: PeerRecord, logger: Logger) {
        self.peer = peer
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        do {
            if let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate() {
                peer.note(try ClientCertificateRefusal.names(ofVerified: try certificate.toDERBytes()))
            }
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            isRefused = true
            let reason = (error as? ClientCertificateRefusal)?.rawValue ?? "\(error)"
            logger.info("Refused a client's certificate", metadata: ["reason": "\(reason)"])
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What failed before anything arrived is the handshake.
        if let error = error as? NIOSSLError, case .handshakeFailed(let cause) = error {
            logger.info("A TLS handshake failed", metadata: ["reason": "\(cause)"])
        }
        context.fireErrorCaught(error)
    }
}
