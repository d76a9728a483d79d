package import AppStoreAPI

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
