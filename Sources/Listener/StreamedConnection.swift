package import HTTPTypes
package import NIOCore
import NIOPosix
import Synchronization

/// A connection on which many requests are worked on at once, as HTTP/2 has them.
///
/// How it is spoken there is somebody else's business; here it is held to the listener's limits, and takes its place among the
/// other connections.
package final class StreamedConnection: Sendable {
    private struct State {
        /// Requests of which not all has arrived, those that are worked on, and those that wait for what may never happen.
        var requests: [RequestPhase: Int] = [:]
        var heldBytes = 0
    }

    /// How far a request is.
    package enum RequestPhase: Sendable {
        case arriving
        case working
        /// It takes no work, and nobody but whoever asks loses anything with it.
        case waiting
    }

    private let channel: any Channel
    private let peerRecord: PeerRecord
    private let limiter: RequestLimiter
    private let executor: EventLoopExecutor
    private let connections: OpenConnections
    private let record: ConnectionRecord?
    private let source: (@Sendable (HTTPRequest, String?) -> String?)?
    /// The most that is held of what arrives on it.
    private let maximumHeldBytes: Int
    private let state = Mutex(State())

    init(
        _ channel: any Channel, _ peer: PeerRecord, _ limiter: RequestLimiter, on executor: EventLoopExecutor,
        _ connections: OpenConnections, _ configuration: ListenerConfiguration
    ) {
        self.channel = channel
        peerRecord = peer
        self.limiter = limiter
        self.executor = executor
        self.connections = connections
        source = configuration.source
        maximumHeldBytes = 2 * configuration.maximumBodyBytes
        record = connections.record(of: channel)
    }

    /// What it proves of its client; the same for all its requests.
    package var peer: ConnectionPeer { peerRecord.value }

    /// Runs the work on a request with a body of so many bytes: the connection's event loop unless it would take too long.
    package func taskExecutor(ofBodyBytes count: Int) -> any TaskExecutor { executor.executor(ofBodyBytes: count) }

    /// A place among the requests that are worked on, if there is one for this one.
    package func slot(for request: HTTPRequest) -> ConnectionSlot? {
        let address = channel.remoteAddress?.ipAddress
        if let source, let record { record.source = connections.source(source(request, address) ?? address) }
        let slot = ConnectionSlot(limiter: limiter)
        return slot.take(request, from: record?.source ?? connections.source(address)) ? slot : nil
    }

    /// Notes a request for which there is no place; how long its answer is to wait, nil for not at all.
    package func refuse() -> Duration? { limiter.refuse().map { .nanoseconds($0.nanoseconds) } }

    /// Says that a request has begun to arrive.
    package func requestBegan() { turn(from: nil, to: .arriving) }

    /// Says that all of a request has arrived: `phase` is what is done about it.
    package func requestArrived(_ phase: RequestPhase) { turn(from: .arriving, to: phase) }

    /// Says that a request is over, whatever became of it; `phase`: how far it was.
    package func requestEnded(_ phase: RequestPhase) { turn(from: phase, to: nil) }

    private func turn(from before: RequestPhase?, to after: RequestPhase?) {
        let activity = state.withLock { state -> ConnectionRecord.Activity in
            if let before { state.requests[before, default: 1] -= 1 }
            if let after { state.requests[after, default: 0] += 1 }
            func count(_ phase: RequestPhase) -> Int { state.requests[phase] ?? 0 }
            return count(.working) > 0 ? .working : count(.arriving) > 0 ? .receiving : .idle
        }
        record?.turn(to: activity, at: .now())
    }

    /// Says how many bytes more, or less, are held of what arrives.
    ///
    /// - Returns: whether there is room for them; if not, what they are of is to be refused.
    package func hold(bytes change: Int) -> Bool {
        guard let record else { return true }
        let total = state.withLock { state in
            state.heldBytes += change
            return state.heldBytes
        }
        connections.hold(bytes: total, record)
        return change <= 0 || total <= maximumHeldBytes && !connections.holdTooMuch
    }
}

/// Ends a connection with many requests when its listener says so, or when it has none for too long; it stands between TLS and
/// the protocol.
final class StreamedConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: StreamedConnection
    private let firstRequestTime: TimeAmount
    private let idleTime: TimeAmount
    private let lastRequestTime: TimeAmount
    private var timer: Scheduled<Void>?
    private var isLeaving = false

    init(_ connection: StreamedConnection, _ configuration: ListenerConfiguration) {
        self.connection = connection
        firstRequestTime = TimeAmount(min(configuration.firstRequestTimeout, configuration.idleTimeout))
        idleTime = TimeAmount(configuration.idleTimeout)
        lastRequestTime = TimeAmount(configuration.lastRequestTimeout)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        // It may have ended meanwhile, and `channelInactive` came first; a timer would keep its memory until it fires.
        guard context.channel.isActive else { return }
        look(context, in: firstRequestTime)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ConnectionAbortEvent: context.close(promise: nil)
        case is ConnectionEvictionEvent: if connection.mayGo { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent: leave(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Lets the protocol take leave of the client, which may not answer.
    private func leave(_ context: ChannelHandlerContext) {
        guard !isLeaving else { return }
        isLeaving = true
        look(context, in: lastRequestTime)
        context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    private func look(_ context: ChannelHandlerContext, in time: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        guard let since = connection.restsSince else {
            // Never at once: with a limit of zero it would look without end while a request is worked on.
            return look(context, in: max(isLeaving ? lastRequestTime : idleTime, .milliseconds(100)))
        }
        if isLeaving || connection.hasNeverWorked { return context.close(promise: nil) }
        let end = since + idleTime
        if end <= .now() { leave(context) } else { look(context, in: end - .now()) }
    }
}

extension StreamedConnection {
    /// Whether no request has ever begun.
    fileprivate var hasNeverWorked: Bool { record?.activity.kind == .silent }

    /// Since when there has been no request; nil where there is one.
    fileprivate var restsSince: NIODeadline? {
        guard state.withLock({ $0.requests.values.allSatisfy { $0 == 0 } }) else { return nil }
        return record?.activity.since ?? .now()
    }

    /// Whether no work is lost with it.
    fileprivate var mayGo: Bool { state.withLock { $0.requests[.working] ?? 0 == 0 } }
}

extension Listener {
    /// Binds the address, as ``bind()`` does, for connections of another protocol than HTTP/1.1.
    ///
    /// `accept`: puts the handlers of the protocol into a connection, on its event loop.
    ///
    /// - Returns: what comes of each connection, to be taken while ``run()`` runs, and where it listens.
    /// - Throws: why it cannot, and how to put it right.
    package func bind<Accepted: Sendable>(
        accepting accept: @escaping @Sendable (any Channel, StreamedConnection) -> EventLoopFuture<Accepted>
    ) async throws(ListenerError) -> (connections: NIOAsyncChannel<Accepted, Never>, address: BoundAddress) {
        let initialize = streamInitializer(accept)
        let opening = Opening<NIOAsyncChannel<Accepted, Never>>(
            bind: { bootstrap, place in
                switch place {
                case .address(let host, let port):
                    try await bootstrap.bind(
                        to: SocketAddress(ipAddress: host, port: port), childChannelInitializer: initialize)
                case .descriptor(let descriptor):
                    try await bootstrap.bind(descriptor, childChannelInitializer: initialize)
                }
            }, channel: \.channel)
        let (bound, address) = try await bind { () async throws(ListenerError.Reason) in
            let (bound, address) = try await open(opening)
            return (bound, bound.channel, address)
        }
        return (bound, address)
    }

    private func streamInitializer<Accepted: Sendable>(
        _ accept: @escaping @Sendable (any Channel, StreamedConnection) -> EventLoopFuture<Accepted>
    ) -> @Sendable (any Channel) -> EventLoopFuture<Accepted> {
        let (prepare, current, connections, limiter, turns) = (preparation(), current, connections, limiter, turns)
        return { channel in
            prepare(channel).flatMap { peer in
                let configuration = current.value
                let connection = StreamedConnection(
                    channel, peer, limiter, on: EventLoopExecutor(turns, channel.eventLoop, limiter), connections,
                    configuration)
                do {
                    try channel.pipeline.syncOperations.addHandler(StreamedConnectionGuard(connection, configuration))
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return accept(channel, connection).map { accepted in
                    if let order = connections.order { OpenConnections.pass(order, to: channel) }
                    return accepted
                }
            }.flatMapErrorThrowing { error in
                // Nobody else would: it is not served.
                channel.close(promise: nil)
                throw error
            }
        }
    }
}
