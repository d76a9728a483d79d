package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// What is known of the client of a connection, and what its requests hold.
package struct AcceptedConnection: Sendable {
    let peerRecord: PeerRecord
    /// Its place among the requests that are worked on.
    package let slot: ConnectionSlot

    /// What it proves of its client; the same for all its requests.
    package var peer: ConnectionPeer { peerRecord.value }
}

/// Listens on one address and serves HTTP/1.1 on the connections it accepts.
///
/// Binding is a step of its own, so that a daemon can bind all its listeners before it calls itself ready: clients that
/// connect between ``bind()`` and ``run()`` wait in the kernel's queue.
///
/// A responder learns who asks from its channel's `remoteAddress`, which a Unix socket's peer does not have, and from
/// ``AcceptedConnection/peer``; which listener it serves it knows from being given to that one.
package actor Listener: Service {
    private enum State {
        case idle
        case binding
        case bound(any Channel)
        case ended
    }

    /// As it was at the start: name and address are those of this.
    let configuration: ListenerConfiguration
    /// As a new connection gets it.
    let current: CurrentConfiguration
    let logger: Logger
    let eventLoopGroup: any EventLoopGroup
    let connections: OpenConnections
    let respond: Responder
    let answerOverload: OverloadAnswer
    let limiter: RequestLimiter
    let turns: EventLoopTurns
    /// A listening socket that was handed over; nil for one that is to be bound.
    let inherited: Int32?
    /// Nil serves plain HTTP.
    package nonisolated let certificates: ListenerCertificates?
    /// Ends when nothing is accepted any more and the last connection has ended.
    private let over: AsyncStream<Never>
    private var state = State.idle
    /// Of a Unix socket that was bound here.
    var socketFile: UnixSocketFile?

    /// Makes a listener, which does nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: name, address and limits.
    ///   - respond: nil where ``bind(accepting:)`` is called; makes the answer to a request, on the event loop of its connection, which it must not hold for long, or on
    ///     Swift's pool if the request's body is long; it is cancelled when its client goes away. What it streams afterwards
    ///     is its body's own business. A request that waits for long may give its place to another meanwhile.
    ///   - answerOverload: answers those for which there is no place, on the event loop, so it must be quick.
    ///   - eventLoopGroup: runs the connections; a group of NIOPosix.
    ///   - turns: the same for all listeners of a group.
    ///   - inherited: a socket that listens at the configured address already, which the listener owns from now on; nil binds one.
    ///   - logger: the listener's name is added to what is logged.
    package init(
        configuration: ListenerConfiguration,
        answering respond: Responder? = nil,
        answeringOverload answerOverload: OverloadAnswer? = nil,
        eventLoopGroup: any EventLoopGroup,
        turns: EventLoopTurns = EventLoopTurns(),
        inheriting inherited: Int32? = nil,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "listener"] = "\(configuration.name)"
        let (over, continuation) = AsyncStream.makeStream(of: Never.self)
        let connections = OpenConnections(
            bounds: .init(configuration), sourceName: configuration.sourceName, logger: logger
        ) { continuation.finish() }
        let limiter = RequestLimiter(
            limit: configuration.maximumRequests, isSharedByCaller: configuration.sharesRequestsByCaller,
            holder: configuration.holder, logger: logger)
        self.configuration = configuration
        current = CurrentConfiguration(configuration)
        self.respond = respond ?? Refusal.answerNobody
        self.answerOverload = answerOverload ?? Refusal.answerOverload
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        self.over = over
        self.limiter = limiter
        self.connections = connections
        self.turns = turns
        self.inherited = inherited
        certificates = configuration.tls.map { tls in
            ListenerCertificates(tls, logger: logger, authoritiesChanged: connections.drainOpen)
        }
    }

    /// Takes the limits of another configuration of this listener, for new connections and for new requests; what has begun ends
    /// within its own.
    ///
    /// Whether requests are bounded at all stays, and so does everything but: ``ListenerConfiguration/maximumConnections``,
    /// ``ListenerConfiguration/maximumRequests``, ``ListenerConfiguration/maximumHeaderBytes``,
    /// ``ListenerConfiguration/maximumBodyBytes``, ``ListenerConfiguration/idleTimeout`` and ``ListenerConfiguration/source``.
    package nonisolated func takeLimits(of other: ListenerConfiguration) {
        let taken = current.takeLimits(of: other)
        connections.setBounds(.init(taken))
        if let limit = taken.maximumRequests { limiter.setLimit(limit) }
    }

    /// From now on each connection ends with its next answer, which says so (`Connection: close`, RFC 9112 section 9.6); new ones are
    /// taken as before.
    ///
    /// Who keeps connections, such as a proxy, has let go of them before the shutdown closes what is left: a request that is on
    /// its way by then is nobody's, and nobody may repeat it but its sender.
    package nonisolated func announceEnd() { connections.announceEnd() }

    /// How many connections are open.
    package nonisolated var openConnections: Int { connections.count }

    /// How many requests are worked on; 0 where nothing bounds them.
    package nonisolated var requestsInProgress: Int { limiter.count }

    /// The largest head of a request, in bytes, as a new request is held to it.
    package nonisolated var maximumHeaderBytes: Int { current.value.maximumHeaderBytes }

    /// Binds the address and lets the kernel queue connections; none is served before ``run()``.
    ///
    /// - Returns: where it listens.
    /// - Throws: why it cannot, and how to put it right.
    package func bind() async throws(ListenerError) -> BoundAddress {
        try await bind { () async throws(ListenerError.Reason) in
            let (channel, address) = try await open()
            return (channel, channel, address)
        }.address
    }

    /// Binds by a way to open the socket, which tells it with what else comes of it.
    func bind<Bound: Sendable>(
        _ open: () async throws(ListenerError.Reason) -> (Bound, any Channel, BoundAddress)
    ) async throws(ListenerError) -> (bound: Bound, address: BoundAddress) {
        guard case .idle = state else { throw error(.alreadyUsed) }
        state = .binding
        do throws(ListenerError.Reason) {
            let (bound, channel, address) = try await open()
            state = .bound(channel)
            logger.info("Listening", metadata: ["address": "\(address)"])
            return (bound, address)
        } catch {
            state = .idle
            throw self.error(error)
        }
    }

    /// Closes a listener that was bound and is not to run, as when another one could not be bound.
    package func close() async throws {
        guard case .bound(let channel) = state else { return }
        state = .ended
        channel.close(promise: nil)
        try await channel.closeFuture.get()
    }

    /// Serves until graceful shutdown, binding first if that was not done.
    ///
    /// At graceful shutdown it accepts who has connected by then and nobody else, and returns when the requests under way are answered.
    /// Cancellation closes all connections whatever is under way.
    ///
    /// - Throws: a ``ListenerError`` when it cannot listen or was closed by something else.
    package func run() async throws {
        if case .idle = state { _ = try await bind() }
        guard case .bound(let channel) = state else { throw error(.alreadyUsed) }
        state = .ended
        let (connections, loops) = (connections, eventLoopGroup.makeIterator().map { $0 })
        // Who handed a socket over keeps its queue, for whoever accepts from it next.
        let queue = inherited == nil ? AcceptQueue(channel, socketFile, logger) : nil
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await serve(channel)
            } onGracefulShutdown: {
                Self.endAccepting(channel, queue, connections, once: loops)
            }
        } onCancel: {
            connections.give(.abort)
            channel.close(promise: nil)
        }
        if connections.order == nil { throw error(.closedUnexpectedly) }
    }

    /// Accepts what is there and nothing more, and closes the socket once all that was accepted is set up.
    ///
    /// NIO drops a connection that is not when the socket closes, with the request that it has sent. Each loop sets up what it
    /// was given before it comes to what it is given here.
    private static func endAccepting(
        _ channel: any Channel, _ queue: AcceptQueue?, _ connections: OpenConnections, once loops: [any EventLoop]
    ) {
        connections.announceEnd()
        channel.eventLoop.flatSubmit {
            queue?.drain() ?? channel.eventLoop.makeSucceededVoidFuture()
        }.flatMap {
            connections.mayAccept.store(false, ordering: .relaxed)
            return channel.setOption(.autoRead, value: false)
        }.flatMap {
            EventLoopFuture.andAllComplete(loops.map { $0.submit {} }, on: channel.eventLoop)
        }.whenComplete { _ in
            connections.give(.drain)
            channel.close(promise: nil)
        }
    }

    private func serve(_ channel: any Channel) async {
        channel.eventLoop.execute { [connections, logger] in
            // The shutdown may have come first.
            guard connections.mayAccept.load(ordering: .relaxed) else { return }
            // Fails only when the channel is closed, upon which `over` ends.
            channel.setOption(.autoRead, value: true).whenFailure { error in
                logger.debug("Cannot accept", metadata: ["reason": "\(error)"])
            }
        }
        // Also when this task is cancelled: what the connections do is told to end, and is over when it is.
        await Task { [over] in for await _ in over {} }.value
    }

    private func error(_ reason: ListenerError.Reason) -> ListenerError {
        ListenerError(listener: configuration.name, address: configuration.address, reason: reason)
    }
}

/// The configuration of a listener as a new connection gets it.
final class CurrentConfiguration: Sendable {
    private let configuration: Mutex<ListenerConfiguration>

    init(_ configuration: ListenerConfiguration) { self.configuration = Mutex(configuration) }

    var value: ListenerConfiguration { configuration.withLock(\.self) }

    /// Takes what ``Listener/takeLimits(of:)`` says.
    func takeLimits(of other: ListenerConfiguration) -> ListenerConfiguration {
        configuration.withLock { configuration in
            configuration.maximumConnections = other.maximumConnections
            configuration.maximumRequests = other.maximumRequests
            configuration.maximumHeaderBytes = other.maximumHeaderBytes
            configuration.maximumBodyBytes = other.maximumBodyBytes
            configuration.idleTimeout = other.idleTimeout
            configuration.source = other.source
            return configuration
        }
    }
}

/// Tells whether event loops run, for a watchdog.
package enum EventLoopHeartbeat {
    /// Returns once every event loop of the group has just run a task.
    ///
    /// It hangs as long as one of them does. Loops that were shut down count as having run: nothing waits for them.
    package static func beat(_ group: any EventLoopGroup) async {
        let hops = group.makeIterator().map { $0.submit {} }
        for hop in hops {
            // Fails only when the loop was shut down.
            try? await hop.get()
        }
    }
}
