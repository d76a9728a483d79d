package import Listener

/// One listener: where it is bound and what it takes at most.
package struct ListenerSettings: Sendable, Equatable {
    /// The largest request body of a listener unless it says otherwise, in bytes.
    package static let defaultMaximumBodyBytes = 1 << 20

    /// How many requests a listener works on at once unless it says otherwise: somewhat more than the calls that go to Apple
    /// at once, since more would only wait for those; and few enough for the last of them to be answered soon.
    package static let defaultMaximumRequests = 256

    package let address: ListenerAddress
    /// Connections open at once; more wait in the kernel's queue.
    package let maximumConnections: Int
    /// Requests worked on at once, nil for no bound; more are turned away with 503.
    package let maximumRequests: Int?
    /// The largest request head, in bytes.
    package let maximumHeaderBytes: Int
    /// The largest request body, in bytes.
    package let maximumBodyBytes: Int
    /// How long a connection may stay silent before it is closed.
    package let idleTimeout: Duration
    /// The certificate for TLS; nil serves plain HTTP.
    package let tls: ListenerTLS?

    package init(
        address: ListenerAddress, maximumConnections: Int = 1024, maximumRequests: Int? = defaultMaximumRequests,
        maximumHeaderBytes: Int = 32 * 1024, maximumBodyBytes: Int = defaultMaximumBodyBytes,
        idleTimeout: Duration = .seconds(75), tls: ListenerTLS? = nil
    ) {
        self.address = address
        self.maximumConnections = maximumConnections
        self.maximumRequests = maximumRequests
        self.maximumHeaderBytes = maximumHeaderBytes
        self.maximumBodyBytes = maximumBodyBytes
        self.idleTimeout = idleTimeout
        self.tls = tls
    }
}
