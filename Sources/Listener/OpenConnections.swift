import Logging
import NIOCore
import Synchronization

/// The open connections of one listener: who has to go when there is no room, and the orders that reach all of them.
///
/// A connection earns its place by a whole request. Those that have sent none, and the bytes that are kept for clients that are
/// slow, have bounds of their own; beyond them, one goes for each that comes (``Eviction``).
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
        /// Besides, those that were told to go and have not gone.
        var leaving: Int
        /// Bytes of bodies that have arrived in part and of answers that were not taken, together.
        var heldBytes: Int
    }

    private struct State {
        var records: [ObjectIdentifier: ConnectionRecord] = [:]
        var order: Order?
        var isAccepting = true
        /// Requests of connections that have closed.
        var outlivingTasks = 0

        var isOver: Bool { !isAccepting && records.isEmpty && outlivingTasks == 0 }
    }

    /// Whether new ones may be accepted; turned off, and read, on the event loop of the listening socket alone, so that nothing turns
    /// accepting on again once it is to end.
    let mayAccept = Atomic(true)

    private let endIsNear = Atomic(false)
    private let state = Mutex(State())
    /// What all connections hold together.
    private let heldBytes = Atomic(0)
    private let room: Mutex<Bounds>
    private let sourceName: @Sendable (String) -> String
    private let evictionLog: OccasionalWarning
    private let whenOver: @Sendable () -> Void

    /// Makes the register.
    ///
    /// - Parameters:
    ///   - bounds: how much room there is.
    ///   - sourceName: the name under which an address is counted.
    ///   - logger: told of those that had to go, once a minute.
    ///   - whenOver: called once, when nothing is accepted any more, the last connection has closed and nothing is done for
    ///     any.
    init(
        bounds: Bounds, sourceName: @escaping @Sendable (String) -> String = { $0 }, logger: Logger,
        whenOver: @escaping @Sendable () -> Void
    ) {
        room = Mutex(bounds)
        self.sourceName = sourceName
        evictionLog = OccasionalWarning(logger)
        self.whenOver = whenOver
    }

    private var bounds: Bounds { room.withLock(\.self) }

    /// Makes more room or less: of what there is too much by then, one goes for each that comes.
    func setBounds(_ bounds: Bounds) { room.withLock { $0 = bounds } }

    /// Whether answers tell clients to connect anew, as the end comes soon.
    var isLeaving: Bool { endIsNear.load(ordering: .relaxed) }

    /// Has answers tell clients so from now on.
    func announceEnd() { endIsNear.store(true, ordering: .relaxed) }

    /// The order that was given, if any.
    var order: Order? { state.withLock { $0.order } }

    /// How many connections are open.
    var count: Int { state.withLock { $0.records.count } }

    /// Whether another connection may be accepted: there is room, or somebody can go who takes it without need.
    func hasRoom() -> Bool {
        state.withLock { state in
            guard state.records.count >= bounds.connections else { return true }
            guard state.records.count < bounds.connections + bounds.leaving else { return false }
            var staying = 0
            for record in state.records.values where !record.isLeaving {
                if record.mayGo { return true }
                staying += 1
            }
            return staying < bounds.connections
        }
    }

    /// Takes note of a connection that was accepted; somebody else may have to go for it.
    ///
    /// - Returns: false when nobody can go by now; then it is none of the open ones.
    func insert(_ channel: any Channel) -> Bool {
        let record = ConnectionRecord(
            channel, source: source(channel.remoteAddress?.ipAddress), at: .now())
        let (isIn, victim) = state.withLock { state -> (Bool, ConnectionRecord?) in
            // Most of the time nobody needs to be counted.
            guard state.records.count >= min(bounds.incomplete, bounds.connections) else {
                state.records[ObjectIdentifier(channel)] = record
                return (true, nil)
            }
            guard state.records.count < bounds.connections + bounds.leaving else { return (false, nil) }
            let staying = state.records.values.filter { !$0.isLeaving } + [record]
            var victim: ConnectionRecord?
            if staying.count > bounds.connections {
                victim = Eviction.victim(among: staying)
                guard victim != nil, victim !== record else { return (false, nil) }
            }
            let incomplete = staying.filter(\.isIncomplete)
            if incomplete.count > bounds.incomplete { victim = Eviction.victim(among: incomplete) }
            state.records[ObjectIdentifier(channel)] = record
            return (true, victim)
        }
        if let victim { evict(victim) }
        return isIn
    }

    /// Where what comes from an address is counted; nil on a Unix socket.
    func source(_ address: String?) -> String { address.map(sourceName) ?? "unix" }

    /// What is known of an open connection.
    func record(of channel: any Channel) -> ConnectionRecord? {
        state.withLock { $0.records[ObjectIdentifier(channel)] }
    }

    /// Whether all connections together hold more than there is room for.
    var holdTooMuch: Bool { heldBytes.load(ordering: .relaxed) > bounds.heldBytes }

    /// Takes note of how many bytes a connection holds; who holds most may have to go.
    func hold(bytes count: Int, _ record: ConnectionRecord) {
        let change = count - record.heldBytes
        guard change != 0 else { return }
        record.hold(bytes: count)
        let total = heldBytes.wrappingAdd(change, ordering: .relaxed).newValue
        guard change > 0, total > bounds.heldBytes else { return }
        let victim = state.withLock { state -> ConnectionRecord? in
            let holding = state.records.values.filter { $0.heldBytes > 0 && !$0.isLeaving }
            guard holding.reduce(0, { $0 + $1.heldBytes }) > bounds.heldBytes else { return nil }
            // What those hold that are at work is bounded by how many they may be.
            return Eviction.victim(among: holding.filter(\.mayGo), room: \.heldBytes)
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

    /// Says that a connection has closed while a request of it is worked on; before ``remove(_:)``.
    func taskOutlivesConnection() { change { $0.outlivingTasks += 1 } }

    /// Says that what was done for a connection that has closed is at its end.
    func outlivingTaskEnded() { change { $0.outlivingTasks -= 1 } }

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
            let wasOver = state.isOver
            body(&state)
            return !wasOver && state.isOver
        }
        if isOver { whenOver() }
    }
}

extension OpenConnections.Bounds {
    init(_ configuration: ListenerConfiguration) {
        connections = configuration.maximumConnections
        incomplete = configuration.maximumIncompleteConnections ?? max(1, configuration.maximumConnections / 2)
        leaving = max(16, configuration.maximumConnections / 4)
        heldBytes = max(configuration.maximumHeldBytes, 2 * configuration.maximumBodyBytes)
    }
}

/// Tells the handlers of a connection that it is to close at once, whatever is under way.
struct ConnectionAbortEvent: Sendable {}

/// Tells the handlers of a connection that it is to make room, unless a whole request is being answered on it by now.
struct ConnectionEvictionEvent: Sendable {}
