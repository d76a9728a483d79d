package import Domain
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Finds out which caller a request comes from (RFC 6750 bearer tokens).
package struct Authenticator: Sendable {
    private let callers: CallerDirectory
    private let throttle: FailedAttempts

    /// - Parameters:
    ///   - callers: who may call.
    ///   - now: a monotonic clock, for the throttle.
    package init(
        callers: CallerDirectory,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.callers = callers
        throttle = FailedAttempts(now: now)
    }

    /// The caller of a request.
    ///
    /// - Throws: `unauthenticated`, or `tooManyFailedAttempts` for a source that keeps failing. A right credential is
    ///   always let in.
    func caller(of request: Request, from channel: any Channel) throws(ServiceError) -> Caller {
        if let token = BearerCredential.token(request.headers[.authorization]),
            let caller = callers.caller(bearer: token)
        {
            return caller
        }
        let failure = ServiceError(
            .unauthenticated,
            callers.isEmpty
                ? "No caller is configured; add one to the configuration's `callers` (`purser callers hash` makes a token)."
                : "Send `Authorization: Bearer` with the token of a configured caller.")
        throw throttle.answer(to: failure, of: channel)
    }
}

/// The `Authorization` header of a request (RFC 6750 section 2.1).
enum BearerCredential {
    /// The token, if the header holds one.
    static func token(_ header: String?) -> String? {
        guard let parts = header?.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1), parts.count == 2,
            Substring(parts[0]).lowercased() == "bearer"
        else { return nil }
        return String(Substring(parts[1]))
    }
}

/// Counts failed attempts by source address, so that guessing is slow.
///
/// Key: the peer's IP address. Window: one minute. Bound: `maximumSources` addresses; when they are full, the window starts
/// anew for all.
final class FailedAttempts: Sendable {
    static let allowedPerWindow = 30
    static let window = Duration.seconds(60)
    static let maximumSources = 10_000

    private struct State {
        var started: ContinuousClock.Instant
        var counts: [String: Int] = [:]
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
        state = Mutex(State(started: now()))
    }

    /// Notes that a connection's peer has failed to authenticate.
    ///
    /// - Returns: the failure, or `tooManyFailedAttempts` when the source has used up its attempts.
    func answer(to failure: ServiceError, of channel: any Channel) -> ServiceError {
        guard let wait = noteFailure(from: channel.remoteAddress?.ipAddress ?? "unix") else { return failure }
        return ServiceError(
            .tooManyFailedAttempts, "Too many failed attempts to authenticate from this address.",
            cause: failure.cause, retryAfter: wait)
    }

    /// - Returns: how long the source has to wait, if it has used up its attempts.
    private func noteFailure(from source: String) -> Duration? {
        let instant = now()
        return state.withLock { state in
            if state.started + Self.window <= instant || state.counts.count >= Self.maximumSources {
                state = State(started: instant)
            }
            let count = state.counts[source, default: 0] + 1
            state.counts[source] = count
            return count > Self.allowedPerWindow ? instant.duration(to: state.started + Self.window) : nil
        }
    }
}
