package import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// Bounds how many requests of a listener are worked on at once and shares the places out; whoever comes beyond that is shed at
/// once.
///
/// There is no queue: what waits in one gets older, and an answer that comes after its caller has given up was work for
/// nobody. Turned away in a few microseconds, a caller can go elsewhere or come back.
///
/// While places are free and requests are gone on with soon, everybody gets one. Otherwise only those do who hold less than their
/// share: the places divided by the number of those who hold any, or did in the last second. They go in beyond the bound, up to
/// twice as many in all, so that one who has taken every place keeps nobody out; its own requests are shed until it is down to
/// what the others leave (max-min fairness).
final class RequestLimiter: Sendable {
    /// How soon a request is gone on with that has what it waited for, while the processor is not scarce.
    static let soon = TimeAmount.milliseconds(10)
    /// For how long every request must have waited longer.
    static let patience = TimeAmount.milliseconds(100)
    /// How long it is remembered who held places, and how long requests waited.
    static let memory = TimeAmount.seconds(1)
    /// The most who are known, beyond those who hold places.
    private static let maximumKnown = 4096
    /// How many refusals in a second are answered at once.
    static let promptRefusals = 200
    /// How long every further one waits: a caller that asks again at once costs four refusals a second and connection then, and
    /// not thousands, which would take the processor from those who were let in.
    static let refusalPause = TimeAmount.milliseconds(250)

    private struct State {
        var inside = 0
        /// The places of each who holds any or did, and when the last was given back; without those of which nobody knows yet
        /// whose they are.
        var held: [String: (places: Int, leftAt: NIODeadline)] = [:]
        private var forgottenAt = NIODeadline.uptimeNanoseconds(0)
        /// Since when all requests have waited long; nil if the latest has not.
        private var slowSince: NIODeadline?
        private var latestWait = NIODeadline.uptimeNanoseconds(0)
        /// The second in which refusals are counted.
        private var refusals = (since: NIODeadline.uptimeNanoseconds(0), count: 0)

        mutating func enter(_ holder: String?) {
            inside += 1
            if let holder { held[holder, default: (0, .distantFuture)].places += 1 }
        }

        mutating func leave(_ holder: String?, at now: NIODeadline) {
            inside -= 1
            if let holder, let places = held[holder]?.places {
                held[holder] = places > 1 || held.count <= maximumKnown ? (places - 1, now) : nil
            }
            guard forgottenAt + patience <= now else { return }
            forgottenAt = now
            held = held.filter { $0.value.places > 0 || $0.value.leftAt + memory > now }
        }

        mutating func note(wait: TimeAmount, at now: NIODeadline) {
            slowSince = wait <= soon ? nil : slowSince ?? now
            latestWait = now
        }

        mutating func refuse(at now: NIODeadline) -> TimeAmount? {
            if now >= refusals.since + .seconds(1) { refusals = (now, 0) }
            refusals.count += 1
            return refusals.count > promptRefusals ? refusalPause : nil
        }

        func isCrowded(_ limit: Int, at now: NIODeadline) -> Bool {
            if inside >= limit { return true }
            guard let slowSince, latestWait + memory > now else { return false }
            return slowSince + patience <= now
        }

        func hasRoom(for holder: String?, _ limit: Int, at now: NIODeadline) -> Bool {
            guard isCrowded(limit, at: now) else { return true }
            guard inside < 2 * limit else { return false }
            // Asked again once it is known.
            guard let holder else { return true }
            let own = held[holder]
            let holders = held.count + (own == nil ? 1 : 0)
            // Who is alone takes nobody else's time.
            if holders == 1 { return inside < limit }
            return (own?.places ?? 0) < max(1, limit / holders)
        }
    }

    private let isBounded: Bool
    private let bound: Atomic<Int>
    /// Whether places are shared out among callers, which responders name, and not among sources.
    let isSharedByCaller: Bool
    /// Whose place a request takes where they are shared out among sources.
    let holder: @Sendable (HTTPRequest, String) -> String
    private let log: OccasionalWarning
    let now: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    /// `now`: the time that waits are measured by.
    init(
        limit: Int?, isSharedByCaller: Bool = false,
        holder: @escaping @Sendable (HTTPRequest, String) -> String = { $1 }, logger: Logger,
        now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        isBounded = limit != nil
        bound = Atomic(limit ?? 0)
        self.isSharedByCaller = isSharedByCaller
        self.holder = holder
        self.now = now
        log = OccasionalWarning(logger)
    }

    /// Nil for no bound.
    private var limit: Int? { isBounded ? bound.load(ordering: .relaxed) : nil }

    /// Puts another bound in the place of the one that there is; without effect where there is none.
    func setLimit(_ limit: Int) { bound.store(limit, ordering: .relaxed) }

    /// How many requests are inside; 0 without a bound.
    var count: Int { state.withLock(\.inside) }

    /// Whether not everybody is let in any more.
    var isCrowded: Bool {
        guard let limit else { return false }
        let now = now()
        return state.withLock { $0.isCrowded(limit, at: now) }
    }

    /// Whether a request would be let in at this moment; `holder`: whose it is, nil while nobody knows.
    func hasRoom(for holder: String?) -> Bool {
        guard let limit else { return true }
        let now = now()
        return state.withLock { $0.hasRoom(for: holder, limit, at: now) }
    }

    /// Lets a request in, if there is a place for it.
    ///
    /// - Returns: whether there was.
    func admit(_ holder: String?) -> Bool {
        guard let limit else { return true }
        let now = now()
        let isIn = state.withLock { state in
            guard state.hasRoom(for: holder, limit, at: now) else { return false }
            state.enter(holder)
            return true
        }
        if !isIn { warn(limit) }
        return isIn
    }

    /// Notes how long a request has waited for its event loop, by ``now``, after it had what it waited for.
    func noteWait(since arrival: NIODeadline) {
        // Sources are shed for the places that they take, and not for the processor.
        guard limit != nil, isSharedByCaller else { return }
        let now = now()
        state.withLock { $0.note(wait: now - arrival, at: now) }
    }

    /// Notes that a request is refused; how long its answer is to wait, nil for not at all.
    func refuse() -> TimeAmount? {
        let now = now()
        return state.withLock { $0.refuse(at: now) }
    }

    /// Notes whose a request is that is inside, now that it has been got to.
    ///
    /// - Parameters:
    ///   - holder: whose it was taken for.
    ///   - next: whose it is.
    /// - Returns: whether it would be let in now; if not, its place is still the one that it was.
    func pass(from holder: String?, to next: String) -> Bool {
        guard let limit, holder != next else { return true }
        let now = now()
        let mayStay = state.withLock { state in
            state.leave(holder, at: now)
            let mayStay = state.hasRoom(for: next, limit, at: now)
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
        guard limit != nil else { return }
        let now = now()
        state.withLock { $0.leave(holder, at: now) }
    }

    private func warn(_ limit: Int) {
        log.warn("Requests are turned away until others are answered", ["limit": "\(limit)"])
    }
}

/// The place that one connection takes among the requests that are worked on: requests of a connection of HTTP/1.1 are answered
/// one after the other, so it takes one at most.
///
/// Where several are answered at once, each has one of its own.
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
    package func take(_ request: HTTPRequest, from source: String) -> Bool {
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
        guard limiter.isSharedByCaller else { return limiter.holder(request, source) }
        guard let caller = state.caller, limiter.isCrowded,
            caller.credential == Self.digest(request.headerFields[.authorization])
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
            state.caller = (Self.digest(authorization), caller)
            guard limiter.isSharedByCaller, state.phase == .inside else { return true }
            guard limiter.pass(from: state.holder, to: caller) else { return false }
            state.holder = caller
            return true
        }
    }

    /// A hash of a field's bytes, with a secret of the process; a `String` would be normalised first.
    private static func digest(_ field: String?) -> Int {
        var hasher = Hasher()
        guard var field else { return hasher.finalize() }
        field.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    /// Notes that a request is refused for want of a place; how long its answer is to wait, nil for not at all.
    func refuse() -> TimeAmount? { limiter.refuse() }

    /// Gives the place back, if there is one.
    package func giveBack() {
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
