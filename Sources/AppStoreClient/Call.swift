import AppStoreAPI
import Curl
import Domain
import Foundation
import Synchronization
import TraceContext

/// One call of Apple's API in one environment, from its first attempt to its last.
///
/// It is sent only if Apple takes our tokens, the breaker is closed and the budget admits it. It knows nothing of what the
/// answers mean.
struct Call: Sendable {
    let client: AppStoreClient
    let request: UpstreamRequest
    /// For whom, how urgently and until when.
    let terms: UpstreamCall
    let environment: AppStoreEnvironment
    let retries: RetryPolicy

    /// `retries`: nil for the client's own.
    init(
        _ client: AppStoreClient, _ request: UpstreamRequest, _ terms: UpstreamCall,
        in environment: AppStoreEnvironment, retries: RetryPolicy? = nil
    ) {
        self.client = client
        self.request = request
        self.terms = terms
        self.environment = environment
        self.retries = retries ?? client.retries
    }

    /// What makes two calls the same.
    struct FlightKey: Hashable, Sendable {
        let app: String
        let environment: AppStoreEnvironment
        let target: String
        let priority: CallPriority

        init(_ call: Call) {
            app = call.terms.app.slug
            environment = call.environment
            target = call.request.target
            priority = call.terms.priority
        }
    }

    /// Makes the call.
    ///
    /// Identical calls that only read are made once for all who wait at the time; the first counts against the budget.
    func result() async -> CallResult<CurlResponse> {
        guard request.isShareable else { return await run(until: CallDeadline(terms.deadline)) }
        let shared = await client.flights.share(FlightKey(self), until: terms.deadline) { await run(until: $0) }
        guard let shared else { return CallResult(.failure(.outOfTime)) }
        // What another caller may not do, this one may.
        guard let refused = shared.failure?.refusedCaller, refused != terms.caller else { return shared }
        return await run(until: CallDeadline(terms.deadline))
    }
}

// MARK: The attempts

extension Call {
    /// How far a call has got with a token that Apple refuses; these attempts are not among those of the policy.
    private enum Trust {
        case unbroken
        /// A fresh token has replaced the refused one.
        case replaced
        /// The cause was looked for.
        case examined
    }

    /// What has come of a call so far.
    private struct Progress {
        var result = CallResult<CurlResponse>(.failure(.outOfTime))
        var trust = Trust.unbroken
        var tries = 0
    }

    /// Leave to send once.
    private struct Leave {
        let token: BearerToken
        let permit: CircuitBreaker.Permit
        /// The time until the call's deadline.
        let remaining: Duration
        /// The same, as the moment that it is on the machine's own clock.
        let end: ContinuousClock.Instant
        let startedAt: Date
        let start: ContinuousClock.Instant
    }

    /// What follows an attempt.
    private enum Next {
        /// The call has its result.
        case end
        case replacing(BearerToken, CallFailure)
        case again(after: Duration)
    }

    /// Makes attempts until one succeeds, none would help or the time is over.
    ///
    /// Each is one wait between two steps that wait for nothing: ``leave(until:_:)`` and ``next(after:_:_:_:until:)``.
    private func run(until deadline: CallDeadline) async -> CallResult<CurlResponse> {
        let budgeted = BudgetedCall(
            app: terms.app.slug, endpoint: request.operation.name, environment: environment, caller: terms.caller,
            priority: terms.priority)
        var progress = Progress()
        while true {
            await client.budget.prepare(budgeted)
            let leave: Leave
            do throws(CallFailure) {
                guard let given = try self.leave(until: deadline, budgeted) else { return progress.result }
                leave = given
            } catch {
                return progress.result.ended(by: error)
            }
            let answer = await client.tracing.call(request.operation.name) {
                await send(leave)
            } shown: {
                traced($0)
            }
            switch next(after: answer, leave, &progress, budgeted, until: deadline) {
            case .end: return progress.result
            case .replacing(let token, let failure):
                guard let finding = await replace(token, &progress.trust, until: deadline) else { continue }
                progress.result.outcome = .failure(CallFailure(finding, of: failure))
                return progress.result
            case .again(let delay):
                guard (try? await client.clock.sleep(delay)) != nil else { return progress.result }
                client.meter.countRetry(request.operation.name)
            }
        }
    }

    /// Sends once.
    ///
    /// Apple is told nothing of the trace that the call belongs to.
    private func send(_ leave: Leave) async -> Result<CurlResponse, CurlError> {
        do throws(CurlError) {
            return .success(
                try await client.transport.send(
                    request, leave.token, environment, within: leave.remaining, until: leave.end))
        } catch {
            return .failure(error)
        }
    }

    /// What the span of an attempt shows.
    private func traced(_ answer: Result<CurlResponse, CurlError>) -> TracedWork {
        var attributes: [(key: String, value: TracedWork.Attribute)] = [
            ("purser.app", .text(terms.app.slug)), ("purser.environment", .text(environment.rawValue)),
        ]
        switch answer {
        case .success(let response):
            attributes.append(("http.response.status_code", .number(response.status)))
            return TracedWork(request.operation.name, attributes, hasFailed: response.status >= 400)
        case .failure(let error):
            attributes.append(("error.type", .text("\(error.kind)")))
            return TracedWork(request.operation.name, attributes, hasFailed: true)
        }
    }

    /// Decides whether to send, in this order: deadline, token, what is known of it, breaker, budget.
    ///
    /// - Returns: nil when the time is over.
    /// - Throws: `CallFailure` when nothing may be sent.
    private func leave(until deadline: CallDeadline, _ budgeted: BudgetedCall) throws(CallFailure) -> Leave? {
        let remaining = client.clock.remaining(until: deadline.instant)
        let end = ContinuousClock.now + remaining
        guard remaining > .zero, !Task.isCancelled else { return nil }
        let token: BearerToken
        do throws(ServiceError) {
            token = try client.tokens.token(for: terms.app)
        } catch {
            throw CallFailure(error)
        }
        if let finding = client.unauthorized.finding(for: terms.app, in: environment, keyID: token.keyID) {
            throw CallFailure(finding.error(apple: nil))
        }
        let permit: CircuitBreaker.Permit
        switch client.breakers.admit(environment) {
        case .admitted(let given): permit = given
        case .refused(let duration): throw .circuitIsOpen(environment, for: duration)
        }
        if case .refused(let refusal) = client.budget.admit(budgeted) {
            client.breakers.record(.nothing, of: permit, in: environment)
            throw .refused(refusal, budgeted)
        }
        return Leave(
            token: token, permit: permit, remaining: remaining, end: end, startedAt: client.clock.now(),
            start: client.clock.monotonicNow())
    }

    /// Tells all who learn from an answer, and decides what follows it.
    ///
    /// A call that Apple may have acted on is made again only if that changes nothing. A connection that certainly did not
    /// carry it, 429 and, once, 401 leave no doubt.
    private func next(
        after answer: Result<CurlResponse, CurlError>, _ leave: Leave, _ progress: inout Progress,
        _ budgeted: BudgetedCall, until deadline: CallDeadline
    ) -> Next {
        let end = client.clock.monotonicNow()
        tell(answer, leave)
        decideTime(answer, within: leave.start...end)
        let outcome = classified(answer)
        progress.result.outcome = outcome
        progress.result.refusal = nil
        progress.result.attempts.append(
            record(
                outcome, status: (try? answer.get())?.status, startedAt: leave.startedAt,
                duration: leave.start.duration(to: end)))
        guard case .failure(var failure) = outcome else { return .end }
        let wasSentBefore = (try? answer.get())?.wasSentBefore ?? false
        if failure.mayHaveReachedApple || wasSentBefore { progress.result.mayHaveReachedApple = true }
        if failure.httpStatus == 401 { return .replacing(leave.token, failure) }
        progress.result.refusal = try? answer.get()
        // Nobody takes the answer of somebody in between for Apple's.
        if progress.result.refusal?.origin(to: request.operation) == .inBetween { progress.result.refusal = nil }
        if failure.httpStatus == 429 { client.budget.appleRefused(budgeted, for: failure.notBefore ?? .seconds(1)) }
        if failure.mayHaveReachedApple, !request.isRepeatable {
            failure = failure.ofUnknownOutcome
            progress.result.outcome = .failure(failure)
        }
        progress.tries += 1
        guard failure.isRetryable,
            let delay = retries.delay(
                after: progress.tries, notBefore: failure.notBefore,
                remaining: client.clock.remaining(until: deadline.instant))
        else { return .end }
        return .again(after: delay)
    }

    private var mapping: AppleFailureMapping { AppleFailureMapping(now: client.clock.now) }

    private func classified(_ answer: Result<CurlResponse, CurlError>) -> Result<CurlResponse, CallFailure> {
        switch answer {
        case .success(let response)
        where (200..<300).contains(response.status) && response.origin(to: request.operation) == .apple:
            return .success(response)
        case .success(let response): return .failure(mapping.failure(response, to: request.operation, in: environment))
        case .failure(let error): return .failure(mapping.failure(error))
        }
    }

    /// Lets breaker and diagnosis know what a transfer says of Apple.
    private func tell(_ answer: Result<CurlResponse, CurlError>, _ leave: Leave) {
        switch answer {
        case .success(let response):
            let origin = response.origin(to: request.operation)
            let isAnswered = origin != .inBetween && response.status < 500
            client.breakers.record(
                isAnswered ? .answered : .failed, of: leave.permit, in: environment,
                cause: isAnswered ? nil : "status \(response.status)\(origin == .inBetween ? ", not from Apple" : "")")
            guard response.status != 401, origin != .inBetween else { return }
            client.unauthorized.noteAnswer(response.status, keyID: leave.token.keyID, app: terms.app, in: environment)
        case .failure(let error):
            client.breakers.record(
                CircuitBreaker.Verdict(error, within: leave.remaining), of: leave.permit, in: environment,
                cause: "\(error)")
        }
    }

    /// Lets the clock know what time it is at Apple.
    ///
    /// An answer that was kept on its way (`Age`, RFC 9111 section 5.1) is as old as it says, and that of somebody in between
    /// tells their time.
    private func decideTime(
        _ answer: Result<CurlResponse, CurlError>, within span: ClosedRange<ContinuousClock.Instant>
    ) {
        guard let steady = client.clock.steady, let response = try? answer.get(),
            response.origin(to: request.operation) == .apple, response.headers["Age"] == nil,
            let appleTime = response.headers.date
        else { return }
        steady.decide(appleTime, within: span)
    }

    /// Counts an attempt, and says what is kept of it.
    ///
    /// `status`: that of the answer, whoever gave it; nil when there was none.
    private func record(
        _ outcome: Result<CurlResponse, CallFailure>, status: Int?, startedAt: Date, duration: Duration
    ) -> DeliveryAttempt {
        var failure: CallFailure?
        if case .failure(let reason) = outcome { failure = reason }
        client.meter.count(
            request.operation.name, app: terms.app.slug, environment: environment, status: status, duration: duration)
        return DeliveryAttempt(
            startedAt: startedAt, duration: duration, httpStatus: status, errorCode: failure?.error.apple?.errorCode,
            failure: failure.map { $0.error.apple?.errorName ?? $0.error.reason.rawValue })
    }

    /// Puts another token in the place of a refused one, or finds out why none would do.
    ///
    /// - Returns: nil when another attempt may succeed.
    private func replace(
        _ refused: BearerToken, _ trust: inout Trust, until deadline: CallDeadline
    ) async -> UnauthorizedFinding? {
        let unexplained = UnauthorizedFinding(.undetermined, keyID: refused.keyID)
        switch trust {
        case .unbroken:
            trust = .replaced
            if await client.tokens.mayReplace(refused) { client.tokens.refused(refused, for: terms.app) }
            if let fresh = try? client.tokens.token(for: terms.app), fresh.generation != refused.generation {
                return nil
            }
            fallthrough
        case .replaced:
            trust = .examined
            let conclusion = await client.unauthorized.examine(terms.app, in: environment, until: deadline.instant)
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
    /// Leaves it to whoever asks to try again.
    static let never = RetryPolicy(maximumAttempts: 1)

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
