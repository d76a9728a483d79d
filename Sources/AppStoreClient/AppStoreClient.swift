import AppStoreAPI
package import Curl
package import Domain
package import Logging
package import TraceContext

/// The App Store Server API behind the ports that our rules know.
///
/// Everything that it returns has been verified; everything that it throws is a `ServiceError`. Each port has an extension
/// of its own; here is what they share, and what every `Call` is made with.
package final class AppStoreClient: Sendable {
    let transport: AppleTransport
    let tokens: any TokenSource
    let budget: any CallBudget
    let breakers: CircuitBreakers
    let unauthorized: UnauthorizedDiagnosis
    let flights: SingleFlight<Call.FlightKey, CallResult<CurlResponse>>
    let retries: RetryPolicy
    let clock: ServiceClock
    let meter: UpstreamMeter
    let decoder: SignedDataDecoder
    let environments: EnvironmentMemory
    let tracing: TraceScope
    /// What is answered about purchases, for when Apple cannot be asked.
    let answers: AnswerMemory
    private let acceptance: TokenAcceptance

    package init(
        configuration: UpstreamConfiguration, client: CurlClient, tokens: any TokenSource, budget: any CallBudget,
        verifier: SignedDataVerifier, memory: any TransactionMemory, releases: any ReleaseMemory,
        answers: any AppleAnswerStore, retries: RetryPolicy = RetryPolicy(), breaker: CircuitBreakerPolicy = .standard,
        clock: ServiceClock, meter: UpstreamMeter, tracing: TraceScope = TraceScope(), logger: Logger
    ) {
        transport = AppleTransport(configuration: configuration, client: client)
        self.tokens = tokens
        self.budget = budget
        breakers = CircuitBreakers(policy: breaker, clock: clock, meter: meter, logger: logger)
        acceptance = TokenAcceptance(store: releases, logger: logger)
        unauthorized = UnauthorizedDiagnosis(
            probe: TokenProbe(transport: transport, budget: budget), tokens: tokens, acceptance: acceptance,
            clock: clock, meter: meter, logger: logger)
        flights = SingleFlight(clock: clock)
        self.retries = retries
        self.clock = clock
        self.meter = meter
        self.tracing = tracing
        decoder = SignedDataDecoder(verifier: verifier, meter: meter)
        environments = EnvironmentMemory(store: memory, logger: logger)
        self.answers = AnswerMemory(store: answers, clock: clock, factory: meter.factory, logger: logger)
    }

    /// Writes to the store what answers have told since the last time: the environments of identifiers, what was
    /// said of purchases, and which apps have a release in Production.
    ///
    /// To be called at intervals, and once when no more calls are made: no answer waits for it.
    package func saveMemory() async {
        await environments.save()
        await answers.save()
        await acceptance.save()
    }
}

// MARK: Environments

extension AppStoreClient {
    /// Asks about an identifier in the environment that it belongs to: the one given, the one remembered, or Production
    /// and, when Apple does not know it there or knows no release of the app, Sandbox.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi (section on identifying rate limits and environments)
    func find(
        _ identifier: String, _ request: UpstreamRequest, _ call: UpstreamCall
    ) async throws(ServiceError) -> (CurlResponse, AppStoreEnvironment) {
        var candidates: [AppStoreEnvironment]
        if let given = call.environment {
            candidates = [given]
        } else if let known = await environments.environment(of: identifier, app: call.app) {
            candidates = [known]
        } else {
            candidates = [.production, .sandbox].filter(call.app.environments.contains)
        }
        while !candidates.isEmpty {
            let environment = candidates.removeFirst()
            switch await Call(self, request, call, in: environment).result().outcome {
            case .success(let response):
                environments.remember(environment, of: identifier, app: call.app)
                return (response, environment)
            case .failure(let failure):
                let mayBeElsewhere = failure.isElsewhere || failure.error.reason == .noProductionRelease
                guard mayBeElsewhere, !candidates.isEmpty else { throw failure.error }
            }
        }
        throw ServiceError(
            .environmentNotAllowed, "App `\(call.app.slug)` is not configured for any environment of Apple's.")
    }

    /// Makes a call that names no identifier by which its environment could be found.
    ///
    /// - Returns: the answer, and the call's environment.
    /// - Throws: as the ports say; `internalError` when the call names no environment.
    func ask(
        _ request: UpstreamRequest, _ call: UpstreamCall
    ) async throws(ServiceError) -> (CurlResponse, AppStoreEnvironment) {
        guard let environment = call.environment else {
            throw ServiceError(
                .internalError, "Internal error.", cause: "\(request.operation.name) without an environment")
        }
        switch await Call(self, request, call, in: environment).result().outcome {
        case .success(let response): return (response, environment)
        case .failure(let failure): throw failure.error
        }
    }
}

// MARK: Answers

extension AppStoreClient {
    func parse<Model: WireModel>(_ response: CurlResponse) throws(ServiceError) -> Model {
        do {
            return try Model(parsing: response.body)
        } catch {
            throw malformed("\(error)")
        }
    }

    /// What the answer must hold.
    func required<Value>(_ value: Value?, _ name: String) throws(ServiceError) -> Value {
        guard let value else { throw malformed("\(name) is missing") }
        return value
    }

    private func malformed(_ cause: String) -> ServiceError {
        ServiceError(.appleAnswerInvalid, "Apple's answer cannot be read.", cause: cause)
    }
}

/// Where Apple is and how long we wait for it.
package struct UpstreamConfiguration: Sendable {
    /// The base URL of each environment, without a slash at its end.
    package let baseURLs: [AppStoreEnvironment: String]
    package let connectTimeout: Duration
    /// The longest one attempt may take.
    package let attemptTimeout: Duration
    package let maximumResponseBytes: Int

    package init(
        baseURLs: [AppStoreEnvironment: String], connectTimeout: Duration, attemptTimeout: Duration,
        maximumResponseBytes: Int
    ) {
        self.baseURLs = baseURLs
        self.connectTimeout = connectTimeout
        self.attemptTimeout = attemptTimeout
        self.maximumResponseBytes = maximumResponseBytes
    }
}
