import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// Bounds how many requests of a listener are worked on at once and shares the places out; whoever comes beyond that is shed at
/// once.
///
/// There is no queue: what waits in one gets older, and an answer that comes after its caller has given up was work for
/// nobody. Turned away in a few microseconds, a caller can go elsewhere or come back.
///
/// While places are free, everybody gets one. After that only those do who hold less than their share: the places divided by
/// the number of those who hold any. They go in beyond the bound, up to twice as many in all, so that one who has taken every
/// place keeps nobody out; its own requests are shed until it is down to what the others leave (max-min fairness).
final class RequestLimiter: Sendable {
    private struct State {
        var inside = 0
        /// The places of each who holds any; without those of which nobody knows yet whose they are.
        var held: [String: Int] = [:]

        mutating func enter(_ holder: String?) {
            inside += 1
            if let holder { held[holder, default: 0] += 1 }
        }

        mutating func leave(_ holder: String?) {
            inside -= 1
            guard let holder, let count = held[holder] else { return }
            held[holder] = count > 1 ? count - 1 : nil
        }

        func hasRoom(for holder: String?, _ limit: Int) -> Bool {
            if inside < limit { return true }
            guard inside < 2 * limit else { return false }
            // Asked again once it is known.
            guard let holder else { return true }
            let own = held[holder] ?? 0
            return own < max(1, limit / (held.count + (own == 0 ? 1 : 0)))
        }
    }

    /// Nil for no bound.
    private let limit: Int?
    /// Whether places are shared out among callers, which responders name, and not among sources.
    let isSharedByCaller: Bool
    private let log: OccasionalWarning
    private let state = Mutex(State())

    init(limit: Int?, isSharedByCaller: Bool = false, logger: Logger) {
        self.limit = limit
        self.isSharedByCaller = isSharedByCaller
        log = OccasionalWarning(logger)
    }

    /// Whether not everybody is let in any more.
    var isCrowded: Bool { limit.map { limit in state.withLock { $0.inside >= limit } } ?? false }

    /// Whether a request would be let in at this moment; `holder`: whose it is, nil while nobody knows.
    func hasRoom(for holder: String?) -> Bool {
        limit.map { limit in state.withLock { $0.hasRoom(for: holder, limit) } } ?? true
    }

    /// Lets a request in, if there is a place for it.
    func admit(_ holder: String?) -> Bool {
        guard let limit else { return true }
        let isIn = state.withLock { state in
            guard state.hasRoom(for: holder, limit) else { return false }
            state.enter(holder)
            return true
        }
        if !isIn { warn(limit) }
        return isIn
    }

    /// Notes whose a request is that is inside.
    ///
    /// - Returns: whether it would be let in now; if not, nothing has changed.
    func pass(from holder: String?, to next: String) -> Bool {
        guard let limit else { return true }
        let mayStay = state.withLock { state in
            state.leave(holder)
            let mayStay = state.hasRoom(for: next, limit)
            state.enter(mayStay ? next : holder)
            return mayStay
        }
        if !mayStay { warn(limit) }
        return mayStay
    }

    /// Lets a request in that was there before, whatever else is.
    func readmit(_ holder: String?) {
        if limit != nil { state.withLock { $0.enter(holder) } }
    }

    func leave(_ holder: String?) {
        if limit != nil { state.withLock { $0.leave(holder) } }
    }

    private func warn(_ limit: Int) {
        log.warn("Requests are turned away until others are answered", ["limit": "\(limit)"])
    }
}

/// The place that one connection takes among the requests that are worked on: requests of a connection are answered one
/// after the other, so it takes one at most.
package final class ConnectionSlot: Sendable {
    private enum Phase {
        case outside
        case inside
        /// The request waits for something that is no work, and takes no place meanwhile.
        case idle
    }

    private struct State {
        var phase = Phase.outside
        /// Whose the place is; nil while nobody knows.
        var holder: String?
        /// Whose the latest request was, and what it showed for it.
        var caller: (credential: Int, name: String)?
    }

    private let limiter: RequestLimiter
    private let state = Mutex(State())

    init(limiter: RequestLimiter) { self.limiter = limiter }

    /// Whether ``take(_:from:)`` would succeed at this moment.
    func hasRoom(for request: HTTPRequest, from source: String) -> Bool {
        state.withLock { state in
            state.phase != .outside || limiter.hasRoom(for: holder(of: request, source, state))
        }
    }

    /// Takes a place for a request, if there is one or the connection has one.
    ///
    /// `source`: where the request comes from.
    func take(_ request: HTTPRequest, from source: String) -> Bool {
        state.withLock { state in
            guard state.phase == .outside else { return true }
            let holder = holder(of: request, source, state)
            guard limiter.admit(holder) else { return false }
            state.phase = .inside
            state.holder = holder
            return true
        }
    }

    /// Who is to hold the place, as far as can be told before anybody has looked at the request.
    ///
    /// Where there is no room for everybody, a request that shows what the one before it on the connection has shown is taken
    /// for the same caller's, so that it can be shed here; all others are let in until it is known whose they are.
    private func holder(of request: HTTPRequest, _ source: String, _ state: State) -> String? {
        guard limiter.isSharedByCaller else { return source }
        guard let caller = state.caller, limiter.isCrowded,
            caller.credential == request.headerFields[.authorization].hashValue
        else { return nil }
        return caller.name
    }

    /// Says whose the request is that is worked on.
    ///
    /// - Parameters:
    ///   - caller: the caller's name.
    ///   - authorization: the field by which it was known, if it was by that.
    /// - Returns: whether it keeps its place; if not, it is to be shed.
    package func belongs(to caller: String, showing authorization: String?) -> Bool {
        state.withLock { state in
            // By a hash, with a secret of the process: credentials are not kept.
            state.caller = (authorization.hashValue, caller)
            guard limiter.isSharedByCaller, state.phase == .inside, state.holder != caller else { return true }
            guard limiter.pass(from: state.holder, to: caller) else { return false }
            state.holder = caller
            return true
        }
    }

    /// Gives the place back, if there is one.
    func giveBack() {
        state.withLock { state in
            if state.phase == .inside { limiter.leave(state.holder) }
            state.phase = .outside
        }
    }

    /// Gives the place back for as long as the request waits for something to happen that may take a minute or never come.
    package func beginIdling() { change(from: .inside, to: .idle) { $0.leave($1) } }

    /// Takes the place again; nobody who was let in is shed later on.
    package func endIdling() { change(from: .idle, to: .inside) { $0.readmit($1) } }

    private func change(from expected: Phase, to next: Phase, _ tell: (RequestLimiter, String?) -> Void) {
        state.withLock { state in
            guard state.phase == expected else { return }
            state.phase = next
            tell(limiter, state.holder)
        }
    }
}
