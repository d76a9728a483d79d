package import Listener

/// One listener: where it is bound and what it takes at most.
package struct ListenerSettings: Sendable, Equatable {
    /// The largest request body of a listener unless it says otherwise, in bytes.
    package static let defaultMaximumBodyBytes = 1 << 20

    package let address: ListenerAddress
    /// Connections open at once; more wait in the kernel's queue.
    package let maximumConnections: Int
    /// The largest request head, in bytes.
    package let maximumHeaderBytes: Int
    /// The largest request body, in bytes.
    package let maximumBodyBytes: Int
    /// How long a connection may stay silent before it is closed.
    package let idleTimeout: Duration
    /// The certificate for TLS; nil serves plain HTTP.
    package let tls: ListenerTLS?

    package init(
        address: ListenerAddress, maximumConnections: Int = 1024, maximumHeaderBytes: Int = 32 * 1024,
        maximumBodyBytes: Int = defaultMaximumBodyBytes, idleTimeout: Duration = .seconds(75), tls: ListenerTLS? = nil
    ) {
        self.address = address
        self.maximumConnections = maximumConnections
        self.maximumHeaderBytes = maximumHeaderBytes
        self.maximumBodyBytes = maximumBodyBytes
        self.idleTimeout = idleTimeout
        self.tls = tls
    }
}
