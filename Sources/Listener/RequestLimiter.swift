import Logging
import NIOCore
import Synchronization

/// Bounds how many requests of a listener are worked on at once; whoever comes beyond that is shed at once.
///
/// There is no queue: what waits in one gets older, and an answer that comes after its caller has given up was work for
/// nobody. Turned away in a few microseconds, a caller can go elsewhere or come back.
final class RequestLimiter: Sendable {
    /// Nil for no bound.
    private let limit: Int?
    private let log: OccasionalWarning
    private let inside = Atomic(0)

    init(limit: Int?, logger: Logger) {
        self.limit = limit
        log = OccasionalWarning(logger)
    }

    /// How many requests are worked on.
    var count: Int { inside.load(ordering: .relaxed) }

    /// Whether a request would be let in at this moment.
    var hasRoom: Bool { limit.map { count < $0 } ?? true }

    /// Lets a request in, unless there are as many as there may be.
    func admit() -> Bool {
        let (before, _) = inside.wrappingAdd(1, ordering: .relaxed)
        guard let limit, before >= limit else { return true }
        inside.wrappingSubtract(1, ordering: .relaxed)
        log.warn("Requests are turned away until others are answered", ["limit": "\(limit)"])
        return false
    }

    /// Lets a request in that was there before, whatever else is.
    func readmit() { inside.wrappingAdd(1, ordering: .relaxed) }

    func leave() { inside.wrappingSubtract(1, ordering: .relaxed) }
}

/// The place that one connection takes among the requests that are worked on: requests of a connection are answered one
/// after the other, so it takes one at most.
package final class ConnectionSlot: Sendable {
    private enum State {
        case outside
        case inside
        /// The request waits for something that is no work, and takes no place meanwhile.
        case idle
    }

    private let limiter: RequestLimiter
    private let state = Mutex(State.outside)

    init(limiter: RequestLimiter) { self.limiter = limiter }

    /// Whether ``take()`` would succeed at this moment.
    var hasRoom: Bool { state.withLock { $0 != .outside } || limiter.hasRoom }

    /// Takes a place, if there is one or the connection has one.
    func take() -> Bool {
        state.withLock { state in
            guard state == .outside else { return true }
            guard limiter.admit() else { return false }
            state = .inside
            return true
        }
    }

    /// Gives the place back, if there is one.
    func giveBack() {
        state.withLock { state in
            if state == .inside { limiter.leave() }
            state = .outside
        }
    }

    /// Gives the place back for as long as the request waits for something to happen that may take a minute or never come.
    package func beginIdling() { change(from: .inside, to: .idle) { $0.leave() } }

    /// Takes the place again; nobody who was let in is shed later on.
    package func endIdling() { change(from: .idle, to: .inside) { $0.readmit() } }

    private func change(from expected: State, to next: State, _ tell: (RequestLimiter) -> Void) {
        state.withLock { state in
            guard state == expected else { return }
            state = next
            tell(limiter)
        }
    }
}
