package import Foundation

/// Who is at the other end of a connection, as the connection itself proves it, whatever its requests say.
///
/// It names no caller: which caller a certificate or a process stands for is a matter of bindings.
package struct PeerIdentity: Sendable, Hashable {
    /// A process of this machine, by what the kernel noted when it connected.
    ///
    /// Source: unix(7), `SO_PEERCRED`
    package struct UnixPeer: Sendable, Hashable {
        /// Its effective user id; in a container the one that this container sees.
        package let uid: UInt32
        /// Its effective group id; its supplementary groups are not known.
        package let gid: UInt32

        package init(uid: UInt32, gid: UInt32) {
            self.uid = uid
            self.gid = gid
        }
    }

    /// A client certificate that leads to an authority of the listener's and may authenticate clients.
    package struct ClientCertificate: Sendable, Hashable {
        /// Its subject alternative names that are URIs (RFC 5280, section 4.2.1.6), in its order; often none.
        ///
        /// One that is a SPIFFE ID is the only one (X.509-SVID, section 2): listeners refuse any other such certificate.
        package let uris: [String]
        /// The last moment of its validity, which a connection may outlive.
        package let notAfter: Date

        package init(uris: [String], notAfter: Date) {
            self.uris = uris
            self.notAfter = notAfter
        }
    }

    /// The process; nil where the connection did not come over a Unix socket.
    package let unixPeer: UnixPeer?
    /// The certificate; nil where the client showed none, or was not asked for one.
    package let certificate: ClientCertificate?

    package init(unixPeer: UnixPeer? = nil, certificate: ClientCertificate? = nil) {
        self.unixPeer = unixPeer
        self.certificate = certificate
    }

    /// What the connection still proves at a moment: an expired certificate proves nothing.
    package func valid(at now: @autoclosure () -> Date) -> PeerIdentity {
        guard let certificate, now() > certificate.notAfter else { return self }
        return PeerIdentity(unixPeer: unixPeer)
    }
}
