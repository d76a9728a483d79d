import AppStoreAPI
import CoreMetrics
import Curl
import Domain
import Foundation
import Metrics

/// Makes calls of Apple's API: token, attempts, retries, deadline.
///
/// Knows nothing of what the answers mean.
struct UpstreamCaller: Sendable {
    let configuration: UpstreamConfiguration
    let client: CurlClient
    let tokens: any TokenSource
    let retries: RetryPolicy
    let now: WallClock
    let meter: UpstreamMeter

    private var mapping: AppleFailureMapping { AppleFailureMapping(now: now) }

    /// What a call brought: the answer or the last failure, and every attempt on the way.
    struct Outcome: Sendable {
        var attempts: [DeliveryAttempt] = []
        var result: Result<CurlResponse, AttemptFailure>
        /// Whether any attempt may have reached Apple.
        var mayHaveReachedApple = false
    }

    /// Makes a call in one environment, repeating it as the policy allows.
    ///
    /// A refused token is dropped and replaced once, outside the count of attempts.
    func call(
        _ request: UpstreamRequest, app: App, in environment: AppStoreEnvironment,
        deadline: ContinuousClock.Instant
    ) async -> Outcome {
        var outcome = Outcome(result: .failure(Self.outOfTime))
        var attempts = 0
        var hasReplacedToken = false
        while true {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero, !Task.isCancelled else { return outcome }
            let token: BearerToken
            do {
                token = try await tokens.token(for: app)
            } catch {
                outcome.result = .failure(
                    AttemptFailure(error: error, isRetryable: false, mayHaveReachedApple: false))
                return outcome
            }
            let attempt = await self.attempt(request, app, environment, token, within: remaining)
            outcome.attempts.append(attempt.record)
            outcome.result = attempt.result
            guard case .failure(let failure) = attempt.result else { return outcome }
            outcome.mayHaveReachedApple = outcome.mayHaveReachedApple || failure.mayHaveReachedApple
            if failure.isUnauthorized, !hasReplacedToken {
                hasReplacedToken = true
                await tokens.refused(token, for: app)
                continue
            }
            attempts += 1
            let left = ContinuousClock.now.duration(to: deadline)
            guard failure.isRetryable,
                let delay = retries.delay(after: attempts, notBefore: failure.notBefore, remaining: left),
                (try? await Task.sleep(for: delay)) != nil
            else { return outcome }
            meter.countRetry(request.endpoint.name)
        }
    }

    private static var outOfTime: AttemptFailure {
        AttemptFailure(
            error: ServiceError(.deadlineExceeded, "The time for this request is over."), isRetryable: false,
            mayHaveReachedApple: false)
    }

    private func attempt(
        _ request: UpstreamRequest, _ app: App, _ environment: AppStoreEnvironment, _ token: BearerToken,
        within remaining: Duration
    ) async -> (record: DeliveryAttempt, result: Result<CurlResponse, AttemptFailure>) {
        let startedAt = now()
        let start = ContinuousClock.now
        let result = await transfer(request, environment, token, within: remaining)
        let duration = start.duration(to: .now)
        var status: Int?
        var failure: AttemptFailure?
        switch result {
        case .success(let response): status = response.status
        case .failure(let error):
            status = error.httpStatus
            failure = error
        }
        meter.count(request.endpoint.name, app: app.slug, environment: environment, status: status, duration: duration)
        let record = DeliveryAttempt(
            startedAt: startedAt, duration: duration, httpStatus: status, errorCode: failure?.error.apple?.errorCode,
            failure: failure.map { $0.error.apple?.errorName ?? $0.error.reason.rawValue })
        return (record, result)
    }

    private func transfer(
        _ request: UpstreamRequest, _ environment: AppStoreEnvironment, _ token: BearerToken,
        within remaining: Duration
    ) async -> Result<CurlResponse, AttemptFailure> {
        guard let baseURL = configuration.baseURLs[environment] else {
            return .failure(
                AttemptFailure(
                    error: ServiceError(.internalError, "Internal error.", cause: "no base URL for \(environment)"),
                    isRetryable: false, mayHaveReachedApple: false))
        }
        guard let method = CurlRequest.Method(rawValue: request.endpoint.method) else {
            return .failure(
                AttemptFailure(
                    error: ServiceError(
                        .internalError, "Internal error.", cause: "no method \(request.endpoint.method)"),
                    isRetryable: false, mayHaveReachedApple: false))
        }
        var headers = [
            (name: "Authorization", value: "Bearer \(token.value)"), (name: "Accept", value: "application/json"),
        ]
        if request.body != nil { headers.append((name: "Content-Type", value: "application/json")) }
        let transfer = CurlRequest(
            method, baseURL + request.endpoint.pathAndQuery, headers: headers,
            body: request.body, connectTimeout: configuration.connectTimeout,
            totalTimeout: min(configuration.attemptTimeout, remaining),
            maximumResponseBytes: configuration.maximumResponseBytes)
        do throws(CurlError) {
            let response = try await client.perform(transfer)
            guard (200..<300).contains(response.status) else {
                return .failure(mapping.failure(response, to: request.endpoint, in: environment))
            }
            return .success(response)
        } catch {
            return .failure(mapping.failure(error))
        }
    }
}
