import AppStoreAPI
import Curl
import Domain
import Synchronization

/// Makes calls of Apple's API: token, budget, breaker, attempts, retries, deadline; who asks the same at the same time
/// shares an answer.
///
/// Knows nothing of what the answers mean.
struct UpstreamCaller: Sendable {
    let parts: UpstreamParts
    let retries: RetryPolicy
    let flights: SingleFlight<FlightKey, Outcome>

    init(_ parts: UpstreamParts, retries: RetryPolicy) {
        self.parts = parts
        self.retries = retries
        flights = SingleFlight(clock: parts.clock)
    }

    /// What a call brought: the answer or the last failure, and every attempt on the way.
    struct Outcome: Sendable {
        /// On whose account the attempts were made.
        let caller: String
        var attempts: [DeliveryAttempt] = []
        var result: Result<CurlResponse, AttemptFailure>
        /// What Apple said in the end, success or not, but for a refused token; nil when the call ended otherwise.
        var answer: CurlResponse?
        /// Whether Apple may have acted on any attempt.
        var mayHaveReachedApple = false
    }

    /// What makes two calls the same.
    struct FlightKey: Hashable, Sendable {
        let app: String
        let environment: AppStoreEnvironment
        let target: String
        let priority: CallPriority

        init(_ request: UpstreamRequest, _ call: UpstreamCall, _ environment: AppStoreEnvironment) {
            app = call.app.slug
            self.environment = environment
            target = request.target
            priority = call.priority
        }
    }

    /// Makes a call in one environment, repeating it as the policy and the call allow.
    ///
    /// Identical calls that only read are made once for all who wait at the time; the first counts against the budget.
    func call(
        _ request: UpstreamRequest, _ call: UpstreamCall, in environment: AppStoreEnvironment
    ) async -> Outcome {
        let call = call.in(environment)
        let repeater = UpstreamRepeater(
            parts: parts, retries: retries, request: request, call: call, environment: environment)
        guard request.isShareable else { return await repeater.run(until: CallDeadline(call.deadline)) }
        let key = FlightKey(request, call, environment)
        let shared = await flights.share(key, until: call.deadline) { await repeater.run(until: $0) }
        guard let outcome = shared else { return Outcome(caller: call.caller, result: .failure(.outOfTime)) }
        // What another caller may not do, this one may.
        guard case .failure(let failure) = outcome.result, failure.isOnCallersAccount, outcome.caller != call.caller
        else { return outcome }
        return await repeater.run(until: CallDeadline(call.deadline))
    }
}

/// One call in one environment, from its first attempt to its last.
struct UpstreamRepeater: Sendable {
    let parts: UpstreamParts
    let retries: RetryPolicy
    let request: UpstreamRequest
    let call: UpstreamCall
    let environment: AppStoreEnvironment

    /// How far a call has got with a token that Apple refuses; these attempts are not among those of the policy.
    private enum Token {
        case trusted
        /// A fresh token has replaced the refused one.
        case replaced
        /// The cause was looked for.
        case examined
    }

    /// Makes attempts until one succeeds, none would help or the time is over.
    ///
    /// A call that Apple may have acted on is made again only if that changes nothing. A connection that certainly did not
    /// carry it, 429 and, once, 401 leave no doubt.
    func run(until deadline: CallDeadline) async -> UpstreamCaller.Outcome {
        var outcome = UpstreamCaller.Outcome(caller: call.caller, result: .failure(.outOfTime))
        var attempts = 0
        var token = Token.trusted
        while true {
            let remaining = parts.clock.remaining(until: deadline.instant)
            guard remaining > .zero, !Task.isCancelled else { return outcome }
            let attempt = await UpstreamAttempt(parts: parts, request: request, call: call, environment: environment)
                .make(within: remaining)
            if let record = attempt.record { outcome.attempts.append(record) }
            outcome.result = attempt.result
            outcome.answer = attempt.answer
            guard case .failure(var failure) = attempt.result else { return outcome }
            outcome.mayHaveReachedApple = outcome.mayHaveReachedApple || failure.mayHaveReachedApple
            if failure.isUnauthorized, let refused = attempt.token {
                guard let finding = await replace(refused, &token, until: deadline) else { continue }
                outcome.result = .failure(AttemptFailure(finding, of: failure))
                return outcome
            }
            if failure.mayHaveReachedApple, !request.isRepeatable {
                failure = failure.ofUnknownOutcome
                outcome.result = .failure(failure)
            }
            attempts += 1
            guard failure.isRetryable, await pause(after: attempts, failure, deadline) else { return outcome }
            parts.meter.countRetry(request.operation.name)
        }
    }

    /// Waits until the next attempt may start.
    ///
    /// - Returns: false when there is none.
    private func pause(after attempts: Int, _ failure: AttemptFailure, _ deadline: CallDeadline) async -> Bool {
        let remaining = parts.clock.remaining(until: deadline.instant)
        guard let delay = retries.delay(after: attempts, notBefore: failure.notBefore, remaining: remaining) else {
            return false
        }
        return (try? await parts.clock.sleep(delay)) != nil
    }

    /// Puts another token in the place of a refused one, or finds out why none would do.
    ///
    /// - Returns: nil when another attempt may succeed.
    private func replace(
        _ refused: BearerToken, _ token: inout Token, until deadline: CallDeadline
    ) async -> UnauthorizedFinding? {
        let unexplained = UnauthorizedFinding(.undetermined, keyID: refused.keyID)
        switch token {
        case .trusted:
            token = .replaced
            await parts.tokens.refused(refused, for: call.app)
            if let fresh = try? await parts.tokens.token(for: call.app), fresh.generation != refused.generation {
                return nil
            }
            fallthrough
        case .replaced:
            token = .examined
            let conclusion = await parts.unauthorized.examine(call.app, in: environment, until: deadline.instant)
            switch conclusion {
            case .tryAgain: return nil
            case .refused(let finding): return finding
            case nil: return unexplained
            }
        case .examined:
            return unexplained
        }
    }
}

/// When a failed attempt is repeated, and after how long.
///
/// Exponential backoff with full jitter: the wait is drawn evenly between nothing and a bound that doubles each time, so
/// that callers which failed together do not come back together.
package struct RetryPolicy: Sendable {
    package let maximumAttempts: Int
    /// The bound of the first wait.
    package let base: Duration
    /// The largest bound.
    package let cap: Duration
    /// A number in 0..<1.
    let random: @Sendable () -> Double

    package init(
        maximumAttempts: Int = 3, base: Duration = .milliseconds(200), cap: Duration = .seconds(5),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.cap = cap
        self.random = random
    }

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts have been made, at least 1.
    ///   - notBefore: the time that Apple asked to wait, if it did.
    ///   - remaining: the time until the caller's deadline.
    /// - Returns: nil when no further attempt may start.
    func delay(after attempt: Int, notBefore: Duration?, remaining: Duration) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        let bound = min(base * (1 << min(attempt - 1, 20)), cap)
        let delay = max(bound * random(), notBefore ?? .zero)
        return delay < remaining ? delay : nil
    }
}

/// Until when a call may go on: later than at first once somebody with more time waits for it too.
final class CallDeadline: Sendable {
    private let latest: Mutex<ContinuousClock.Instant>

    init(_ instant: ContinuousClock.Instant) { latest = Mutex(instant) }

    /// No attempt starts and no wait lasts beyond this.
    var instant: ContinuousClock.Instant { latest.withLock(\.self) }

    /// Moves the deadline, never to an earlier instant.
    func extend(to instant: ContinuousClock.Instant) { latest.withLock { $0 = max($0, instant) } }
}
