package import HTTPTypes

/// What one listener is called, where it listens, and how much it lets its clients do.
package struct ListenerConfiguration: Sendable {
    /// The name under which the listener is configured and logged, for example `api`.
    package var name: String

    /// Where it listens.
    package var address: ListenerAddress

    /// The group of a Unix socket's file, by name or number; nil for the process's own.
    package var socketGroup: String?

    /// The most connections open at once; for one more, one goes on which no request is worked on, or it waits for that.
    ///
    /// A quarter more may be on their way out.
    package var maximumConnections = 1024

    /// The most connections that have not sent a whole request, nil for half of all; for one more, one of them goes.
    package var maximumIncompleteConnections: Int?

    /// The most bytes of bodies that have arrived in part, and of answers that clients have not taken, of all connections
    /// together; beyond them, one connection goes.
    ///
    /// Never less than twice ``maximumBodyBytes``.
    package var maximumHeldBytes = 64 << 20

    /// Where a request comes from, by its head and the address of its connection; nil where nobody but the socket tells.
    package var source: (@Sendable (HTTPRequest, String?) -> String?)?

    /// The name under which an address is counted, where those that take room are told apart by where they come from.
    package var sourceName: @Sendable (String) -> String = { $0 }

    /// The most requests worked on at once, nil for no bound; more of them are shed with 503.
    ///
    /// Up to twice as many for those who hold less than their share.
    package var maximumRequests: Int?

    /// Whether those are shared out among callers, of whom the responder tells the slot, and not among sources.
    package var sharesRequestsByCaller = false

    /// Whose place a request takes where they are shared out among sources, by its head and its source.
    package var holder: @Sendable (HTTPRequest, String) -> String = { $1 }

    /// The answer to a request that is refused by its head, whatever its body is; nil for all others.
    ///
    /// Asked on the event loop, so it must be quick.
    package var refusal: @Sendable (HTTPRequest) -> EarlyAnswer? = { _ in nil }

    /// The most connections that the kernel keeps waiting; beyond `net.core.somaxconn` it has no effect.
    package var backlog = 4096

    /// The most bytes of a request's target, header names and values together; more is answered with 431.
    package var maximumHeaderBytes = 32 * 1024

    /// The most header fields of a request, trailers included; more is answered with 431.
    package var maximumHeaderCount = 100

    /// The most bytes of a request's body; more is answered with 413.
    package var maximumBodyBytes = 1024 * 1024

    /// How long a connection may stay open without a request.
    package var idleTimeout = Duration.seconds(60)

    /// How long a new connection may stay silent, if that is less.
    package var firstRequestTimeout = Duration.seconds(15)

    /// How long a connection that has sent nothing yet may still send its first request when the shutdown has begun.
    ///
    /// Whoever has just connected, perhaps through a socket that the next process serves, would lose that request.
    package var lastRequestTimeout = Duration.seconds(3)

    /// How long a client may take to send one request, from its first byte to its last; slower is answered with 408.
    ///
    /// The time during which this process does not read, because a responder has not taken what is there, is not counted.
    package var requestReadTimeout = Duration.seconds(15)

    /// How long a client may take, of the time in which it is waited for, to receive an answer before the connection is closed.
    ///
    /// Counted for an answer as a whole, since a client that takes a byte now and then could keep it for ever.
    package var responseWriteTimeout = Duration.seconds(60)

    /// How long a connection stays half open after a refused request, so that a client that is still sending sees the
    /// answer and not a reset.
    package var lingerTimeout = Duration.seconds(2)

    /// The certificate for TLS; nil serves plain HTTP.
    package var tls: ListenerTLS?

    package init(name: String, address: ListenerAddress) {
        self.name = name
        self.address = address
    }
}
