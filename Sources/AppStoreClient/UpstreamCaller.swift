import Curl
import Domain

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
