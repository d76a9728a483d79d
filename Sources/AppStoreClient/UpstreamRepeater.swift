import AppStoreAPI
import Curl
import Domain

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

extension AttemptFailure {
    /// The failure of a call whose token Apple refuses, told by what was found out.
    init(_ finding: UnauthorizedFinding, of failure: AttemptFailure) {
        self = failure
        isRetryable = false
        error = finding.error(apple: failure.error.apple)
    }
}
