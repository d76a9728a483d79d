/// What all transfers of one ``CurlClient`` have in common.
///
/// What is not here is fixed: only `https`, TLS 1.2 or later, certificate and host name always verified, no redirects,
/// no cookies, no `.netrc`, no proxy but the one named here (the environment's `https_proxy` and `no_proxy` are not
/// consulted).
package struct CurlConfiguration: Sendable {
    /// Path of a PEM file with the only certificate authorities to trust, or nil for those of the system.
    package var certificateAuthorityFile: String?
    /// URL of the proxy, as `http://proxy.example.com:3128`, or nil for none.
    package var proxy: String?
    /// Value of the `User-Agent` header, or nil to send none.
    package var userAgent: String?
    /// Connections to one host at a time.
    ///
    /// One is enough for HTTP/2, where requests share it; a server that speaks only HTTP/1.1 is then asked one
    /// request after the other.
    package var maximumConnectionsPerHost = 1
    /// Transfers under way at a time, on all connections.
    ///
    /// Further requests wait their turn, and their total timeout runs meanwhile.
    package var maximumConcurrentTransfers = 200
    /// Time after which an unused connection is not used again.
    package var maximumConnectionIdleTime = Duration.seconds(90)
    /// Age from which a connection gets no further request.
    package var maximumConnectionAge = Duration.seconds(3_600)
    /// Time after which a connection is given up whose peer does not acknowledge what was sent (`TCP_USER_TIMEOUT`,
    /// tcp(7)).
    package var unacknowledgedDataTimeout = Duration.seconds(20)
    /// Bytes of all header lines that one response may have.
    package var maximumHeaderBytes = 65_536

    /// Whether a connection to an address may be opened, by its 4 or 16 bytes; nil admits every address.
    ///
    /// It is asked about the very address that the socket then connects to, each time one is opened: a name that resolves to
    /// another address meanwhile changes nothing. It must be quick.
    package var admitsAddress: (@Sendable ([UInt8]) -> Bool)?

    /// The defaults, with the system's certificate authorities and no proxy.
    package init() {}
}
