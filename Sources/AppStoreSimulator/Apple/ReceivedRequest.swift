package import AppStoreAPI
package import JSON

/// What came in on one of Apple's doors, and what went out; of the token only what it says.
package struct ReceivedRequest: Sendable {
    /// Counts all requests since the start, from 1.
    package let number: Int
    /// When it had come in whole, UNIX milliseconds.
    package let arrival: Int64
    /// When it was answered, UNIX milliseconds.
    package let time: Int64
    package let environment: SimulatedEnvironment
    package let method: String
    /// The path, as it came.
    package let path: String
    /// The query, as it came.
    package let query: String?
    /// Nil for paths that are not Apple's.
    package let operation: Endpoint.Operation?
    /// The identifier in the path.
    package let identifier: String?
    /// What the token says, whether it was good or not.
    package let bundleID: String?
    package let keyID: String?
    /// The body, if it is JSON.
    package let body: JSONValue?
    /// Consumption information as it came, byte for byte; nil for other calls.
    package let consumption: [UInt8]?
    /// Length of the body in bytes; nil if it was longer than is read.
    package let bodyCount: Int?
    /// Nil when the connection was reset instead.
    package let status: Int?
    package let errorCode: Int64?
    /// Why it was refused, in more words than the client gets.
    package let reason: String?
    /// The faults that hit it, by name.
    package let faults: [String]
}

/// The requests that came in, the latest only, and counts of all.
package struct ReceivedLog: Sendable {
    /// How many requests are kept.
    package static let capacity = 10_000

    /// What is counted apart.
    package struct Subject: Sendable, Hashable {
        package let environment: SimulatedEnvironment
        /// Nil for paths that are not Apple's.
        package let operation: Endpoint.Operation?
        /// Nil for connections that were reset.
        package let status: Int?
    }

    package private(set) var requests: [ReceivedRequest] = []
    package private(set) var counts: [Subject: Int] = [:]
    /// How many are no longer kept.
    package private(set) var dropped = 0
    private(set) var lastNumber = 0

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func append(_ request: ReceivedRequest) {
        requests.append(request)
        // Dropped in bulk, which keeps the cost of each request small.
        if requests.count >= Self.capacity + Self.capacity / 10 {
            dropped += requests.count - Self.capacity
            requests.removeFirst(requests.count - Self.capacity)
        }
        let subject = Subject(
            environment: request.environment, operation: request.operation, status: request.status)
        counts[subject, default: 0] += 1
    }

    mutating func clear() {
        requests = []
        counts = [:]
        dropped = 0
    }
}

extension AppleService {
    /// Writes down what came in and what went out; of the token only what it says.
    func record(_ call: AppleCall, _ route: AppleRoute, _ outcome: Outcome, _ callFaults: CallFaults, wasReset: Bool) {
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
                    errorCode: outcome.errorCode, reason: outcome.reason, faults: callFaults.names))
        }
        state.observers.notify(.requestReceived)
    }
}

extension Endpoint.Operation {
    fileprivate var isConsumption: Bool {
        self == .sendConsumptionInformation || self == .sendConsumptionInformationV1
    }
}
