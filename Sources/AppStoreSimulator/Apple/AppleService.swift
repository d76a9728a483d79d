import AppStoreAPI
import Foundation
import OpenSSL

/// One of Apple's two servers: from a request to what goes out, faults included.
struct AppleService: Sendable {
    /// The longest request body that is read, in bytes.
    static let maximumBodyBytes = 65_536
    /// Length of a body that is garbage, in bytes.
    private static let garbageCount = 512

    let environment: SimulatedEnvironment
    let state: SimulatorState
    let authority: SigningAuthority
    let now: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void

    /// Answers a request and records it.
    ///
    /// - Throws: `CancellationError` when the listener stops during a delay.
    func deliver(_ request: IncomingRequest) async throws -> Delivery {
        let route = Route(method: request.method, path: request.path)
        let token = Result { () throws(TokenFault) in try BearerToken(authorization: request.authorization) }
        let bundleID = (try? token.get())?.bundleID
        var plan = FaultPlan([])
        if case .operation(let operation, _) = route {
            plan = FaultPlan(
                state.withContent {
                    $0.faults.effects(on: operation, bundleID: bundleID, environment: environment)
                })
        }
        if plan.latency > .zero { try await sleep(plan.latency) }
        let call = Call(request: request, token: token, time: now() + plan.clockSkew, tampering: plan.tampering)
        var outcome = outcome(of: call, route, plan)
        outcome.response.headers.append(("Date", HTTPDate.text(call.time)))
        let wasReset = plan.resetsBefore || plan.resetsAfter
        record(call, route, outcome, plan, wasReset: wasReset)
        if wasReset { return .reset }
        return plan.truncates ? .truncated(outcome.response) : .response(outcome.response)
    }

    /// What a call comes to.
    struct Outcome {
        var response: OutgoingResponse
        var errorCode: Int64?
        var reason: String?
    }

    private func outcome(of call: Call, _ route: Route, _ plan: FaultPlan) -> Outcome {
        if plan.resetsBefore { return Outcome(response: OutgoingResponse(status: 0), reason: "reset by a fault") }
        if let fault = plan.statusOutcome { return fault }
        do throws(Refusal) {
            var response = try answer(call, route)
            if plan.isGarbage { response.body = state.withContent { $0.faults.garbage(count: Self.garbageCount) } }
            return Outcome(response: response)
        } catch {
            return error.outcome
        }
    }

    private func answer(_ call: Call, _ route: Route) throws(Refusal) -> OutgoingResponse {
        switch route {
        case .unknown:
            throw .malformed(status: 404, "no such path")
        case .otherMethod(let allowed):
            var response = OutgoingResponse.text(405, "Method Not Allowed\n")
            response.headers.append(("Allow", allowed))
            return response
        case .operation(let operation, let parameters):
            let app = try authenticate(call)
            let milliseconds = Int64((call.time.timeIntervalSince1970 * 1000).rounded(.down))
            try state.withContent { content throws(Refusal) in
                try content.limits.count(operation, of: app.bundleID, in: environment, now: milliseconds)
            }
            let identifier = parameters.first ?? ""
            switch operation {
            case .getTransactionInfo: return try transactionInfo(identifier, app, call)
            case .getTransactionHistory: return try history(identifier, app, call)
            case .getRefundHistory: return try refundHistory(identifier, app, call)
            case .sendConsumptionInformation: return try consumption(identifier, app, call, ConsumptionRules.checkV2)
            case .sendConsumptionInformationV1: return try consumption(identifier, app, call, ConsumptionRules.checkV1)
            default: throw .malformed(status: 404, "this call is not simulated")
            }
        }
    }

    /// Checks the token and finds its app.
    private func authenticate(_ call: Call) throws(Refusal) -> RegisteredApp {
        let (keys, apps) = state.withContent { ($0.world.keys, $0.world.apps) }
        let token: BearerToken
        do throws(TokenFault) {
            token = try call.token.get()
            try token.check(keys: keys, now: call.time)
        } catch {
            throw .unauthenticated(error)
        }
        guard let app = token.bundleID.flatMap({ apps[$0] }) else { throw .error(.appNotFound) }
        guard app.issuerID == token.keyID.flatMap({ keys[$0] })?.issuerID else { throw .unauthenticated(.otherTeam) }
        guard environment == .sandbox || app.isReleasedToProduction else { throw .unauthenticated(.notReleased) }
        return app
    }
}
