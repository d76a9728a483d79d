import AppStoreAPI
import JSON

extension AppleService {
    /// Writes down what came in and what went out; of the token only what it says.
    func record(_ call: Call, _ route: Route, _ outcome: Outcome, _ plan: FaultPlan, wasReset: Bool) {
        let token = try? call.token.get()
        var operation: Endpoint.Operation?
        var identifier: String?
        if case .operation(let known, let parameters) = route { (operation, identifier) = (known, parameters.first) }
        let body = call.request.body.flatMap { $0.isEmpty ? nil : try? JSONValue(parsing: $0) }
        let target = call.request.target
        let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        let time = state.milliseconds
        state.withContent { content in
            content.received.append(
                ReceivedRequest(
                    number: content.received.nextNumber(), arrival: call.request.arrival.unixMilliseconds, time: time,
                    environment: environment,
                    method: call.request.method, path: String(call.request.path), query: query, operation: operation,
                    identifier: identifier, bundleID: token?.bundleID, keyID: token?.keyID, body: body,
                    consumption: operation?.isConsumption == true ? call.request.body : nil,
                    bodyCount: call.request.body?.count, status: wasReset ? nil : outcome.response.status,
                    errorCode: outcome.errorCode, reason: outcome.reason, faults: plan.names))
        }
        state.bell.ring(.requestReceived)
    }
}

extension Endpoint.Operation {
    fileprivate var isConsumption: Bool {
        self == .sendConsumptionInformation || self == .sendConsumptionInformationV1
    }
}
