import Synchronization

/// Counts failed attempts to authenticate by where they came from (``SourceNetwork``) and by whom they claim to be, and tells
/// whoever fails too often to wait.
///
/// More failures than `allowedPerWindow` in a window are answered with 429 in the place of 401. That is all: each credential is
/// looked at, and a right one is let in, so that nobody can shut a caller out by failing in its name. It quiets clients that
/// repeat a wrong credential and heed `Retry-After`, and does not bound how often somebody can guess: what is guessed in vain is
/// a token's 256 random bits, or a signature. Copies of the daemon share what is allowed in equal parts. Keys: source, claim. Bound: `maximumCounts`; those beyond are counted together, so
/// that nobody makes the others forgotten.
package final class FailedAttempts: Sendable {
    package static let allowedPerWindow = 30
    static let window = Duration.seconds(60)
    package static let maximumCounts = 10_000
    private static let others = "others"

    private struct State {
        var started: ContinuousClock.Instant
        var counts: [String: Int] = [:]
    }

    /// Tells the audit.
    private let records: AuthenticationFailures?
    private let copies: LivingCopies
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// `records`: tells the audit of each; `copies`: how many copies of the daemon share what is allowed; `now`: a monotonic clock.
    package init(
        records: AuthenticationFailures? = nil, copies: LivingCopies = LivingCopies(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.records = records
        self.copies = copies
        self.now = now
        state = Mutex(State(started: now()))
    }

    /// Notes a failure.
    ///
    /// - Parameters:
    ///   - source: the address that it came from; nil for a Unix socket, or where nobody who is trusted tells.
    ///   - claim: what the credential claims to be, where it names something that could exist.
    /// - Returns: how long to wait, if either has used up its attempts.
    package func note(from source: String?, claim: String?) -> Duration? {
        records?.note(from: source, claim: claim)
        let instant = now()
        let allowed = max(1, Self.allowedPerWindow / copies.count)
        return state.withLock { state in
            if state.started + Self.window <= instant { state = State(started: instant) }
            var isTooMany = false
            let network = source.map(SourceNetwork.name) ?? "unknown"
            for key in ["source \(network)", claim.map { "claim \($0)" }].compactMap(\.self) {
                let isCounted = state.counts[key] != nil || state.counts.count < Self.maximumCounts
                let key = isCounted ? key : Self.others
                state.counts[key, default: 0] += 1
                if state.counts[key, default: 0] > allowed { isTooMany = true }
            }
            return isTooMany ? instant.duration(to: state.started + Self.window) : nil
        }
    }
}
