import Logging
import NIOCore
import Synchronization

/// The open connections of one listener: who has to go when there is no room, and the orders that reach all of them.
///
/// A connection earns its place by a whole request. Those that have sent none, and bodies of which the rest is missing, have
/// bounds of their own; beyond them, one goes for each that comes (``Eviction``).
final class OpenConnections: Sendable {
    /// How the connections are to end.
    enum Order: Sendable {
        /// Each as soon as no request is under way on it.
        case drain

        /// All at once.
        case abort
    }

    /// How much room there is.
    struct Bounds: Sendable {
        /// Open at once.
        var connections: Int
        /// Of them, those without a whole request.
        var incomplete: Int
        /// Bytes of bodies that have arrived in part, together.
        var incompleteBytes: Int
    }

    private struct State {
        var records: [ObjectIdentifier: ConnectionRecord] = [:]
        var order: Order?
        var isAccepting = true
    }

    private let state = Mutex(State())
    /// Bytes of all bodies that have arrived in part.
    private let incompleteBytes = Atomic(0)
    private let bounds: Bounds
    private let sourceName: @Sendable (String) -> String
    private let evictionLog: OccasionalWarning
    private let whenOver: @Sendable () -> Void

    /// Makes the register.
    ///
    /// - Parameters:
    ///   - bounds: how much room there is.
    ///   - sourceName: the name under which an address is counted.
    ///   - logger: told of those that had to go, once a minute.
    ///   - whenOver: called once, when nothing is accepted any more and the last connection has closed.
    init(
        bounds: Bounds, sourceName: @escaping @Sendable (String) -> String = { $0 }, logger: Logger,
        whenOver: @escaping @Sendable () -> Void
    ) {
        self.bounds = bounds
        self.sourceName = sourceName
        evictionLog = OccasionalWarning(logger)
        self.whenOver = whenOver
    }

    /// The order that was given, if any.
    var order: Order? { state.withLock { $0.order } }

    /// How many connections are open.
    var count: Int { state.withLock { $0.records.count } }

    /// Whether another connection may be accepted: there is room, or somebody can go who takes it without need.
    func hasRoom() -> Bool {
        state.withLock { state in
            state.records.count < bounds.connections
                || state.records.values.contains { $0.isLeaving || $0.activity.kind != .working }
        }
    }

    /// Takes note of a connection that was accepted; somebody else may have to go for it.
    func insert(_ channel: any Channel) {
        let record = ConnectionRecord(
            channel, source: source(channel.remoteAddress?.ipAddress), at: .now())
        let victim = state.withLock { state -> ConnectionRecord? in
            state.records[ObjectIdentifier(channel)] = record
            let staying = state.records.values.filter { !$0.isLeaving }
            let incomplete = staying.filter(\.isIncomplete)
            if incomplete.count > bounds.incomplete { return Eviction.victim(among: incomplete) }
            guard staying.count > bounds.connections else { return nil }
            return Eviction.victim(among: incomplete.filter { $0 !== record })
                ?? Eviction.victim(among: staying.filter { $0.activity.kind == .idle })
        }
        if let victim { evict(victim) }
    }

    /// Where what comes from an address is counted; nil on a Unix socket.
    func source(_ address: String?) -> String { address.map(sourceName) ?? "unix" }

    /// What is known of an open connection.
    func record(of channel: any Channel) -> ConnectionRecord? {
        state.withLock { $0.records[ObjectIdentifier(channel)] }
    }

    /// Takes note of how much of a body has arrived of which the rest is missing; who takes most may have to go.
    func hold(bytes count: Int, _ record: ConnectionRecord) {
        let change = count - record.heldBytes
        record.hold(bytes: count)
        let total = incompleteBytes.wrappingAdd(change, ordering: .relaxed).newValue
        guard change > 0, total > bounds.incompleteBytes else { return }
        let victim = state.withLock { state -> ConnectionRecord? in
            let holding = state.records.values.filter { $0.heldBytes > 0 && !$0.isLeaving }
            guard holding.reduce(0, { $0 + $1.heldBytes }) > bounds.incompleteBytes else { return nil }
            return Eviction.victim(among: holding, room: \.heldBytes)
        }
        if let victim { evict(victim) }
    }

    func remove(_ channel: any Channel) {
        change { $0.records[ObjectIdentifier(channel)] = nil }
    }

    private func evict(_ record: ConnectionRecord) {
        record.isLeaving = true
        evictionLog.warn("Connections on which no request is worked on are closed, to make room for others")
        record.channel.eventLoop.execute {
            record.channel.pipeline.fireUserInboundEventTriggered(ConnectionEvictionEvent())
        }
    }

    /// Says that the listening socket is closed.
    func acceptingHasEnded() {
        change { $0.isAccepting = false }
    }

    /// Gives an order to all connections, also to those that are still being set up, which ask for ``order`` then.
    func give(_ order: Order) {
        let channels = state.withLock { state in
            state.order = order
            return state.records.values.map(\.channel)
        }
        for channel in channels {
            channel.eventLoop.execute { Self.pass(order, to: channel) }
        }
    }

    /// Ends the connections of this moment as soon as no request is under way on each; others come after them.
    ///
    /// One that is still being set up is among them if it has handlers when its event loop comes to it; otherwise it is as
    /// good as new.
    func drainOpen() {
        for channel in state.withLock({ $0.records.values.map(\.channel) }) {
            channel.eventLoop.execute { Self.pass(.drain, to: channel) }
        }
    }

    /// Passes an order to one connection whose handlers are in place; called on its event loop.
    static func pass(_ order: Order, to channel: any Channel) {
        switch order {
        case .drain: channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        case .abort: channel.pipeline.fireUserInboundEventTriggered(ConnectionAbortEvent())
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let isOver = state.withLock { state in
            let wasOver = !state.isAccepting && state.records.isEmpty
            body(&state)
            return !wasOver && !state.isAccepting && state.records.isEmpty
        }
        if isOver { whenOver() }
    }
}

extension OpenConnections.Bounds {
    init(_ configuration: ListenerConfiguration) {
        connections = configuration.maximumConnections
        incomplete = configuration.maximumIncompleteConnections ?? max(1, configuration.maximumConnections / 2)
        incompleteBytes = max(configuration.maximumIncompleteBytes, 2 * configuration.maximumBodyBytes)
    }
}

/// Tells the handlers of a connection that it is to close at once, whatever is under way.
struct ConnectionAbortEvent: Sendable {}

/// Tells the handlers of a connection that it is to make room, unless a whole request is being answered on it by now.
struct ConnectionEvictionEvent: Sendable {}

/// Stops accepting while requests are answered on as many connections as there may be, and keeps the register of them.
///
/// It sits on the listening channel. What is not accepted waits in the kernel's queue, so nobody is shed.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    private let connections: OpenConnections
    private let fullLog: OccasionalWarning
    private let rest: AcceptRest
    private var isHeldBack = false

    init(connections: OpenConnections, logger: Logger) {
        self.connections = connections
        fullLog = OccasionalWarning(logger)
        rest = AcceptRest(logger)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        rest.accepted()
        connections.insert(channel)
        let mine = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { [connections] _ in
            connections.remove(channel)
            mine.value.handler.acceptAgain(mine.value.context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard !rest.isResting else { return }
        guard !connections.hasRoom() else {
            isHeldBack = false
            return context.read()
        }
        fullLog.warn("New connections wait until a request is answered")
        guard !isHeldBack else { return }
        isHeldBack = true
        lookAgain(context)
    }

    /// A connection on which a request was answered makes room, and says so to nobody.
    private func lookAgain(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
            guard self.isHeldBack, context.channel.isActive else { return }
            if self.connections.hasRoom() { self.acceptAgain(context) } else { self.lookAgain(context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        rest.failed(error, context)
        context.fireErrorCaught(error)
    }

    private func acceptAgain(_ context: ChannelHandlerContext) {
        guard isHeldBack, !rest.isResting else { return }
        isHeldBack = false
        context.read()
    }
}

/// A warning that is worth one line a minute, however often there is reason for it.
final class OccasionalWarning: Sendable {
    private let logger: Logger
    /// When the next line may be logged, in nanoseconds of uptime.
    private let next = Atomic<UInt64>(0)

    init(_ logger: Logger) { self.logger = logger }

    func warn(_ message: Logger.Message, _ metadata: Logger.Metadata? = nil) {
        let now = NIODeadline.now().uptimeNanoseconds
        let due = next.load(ordering: .relaxed)
        guard now >= due else { return }
        let following = now + UInt64(TimeAmount.minutes(1).nanoseconds)
        guard next.compareExchange(expected: due, desired: following, ordering: .relaxed).exchanged else { return }
        logger.warning(message, metadata: metadata)
    }
}
