// The performance test of a realtime URL: how it is begun, and what it finds.

package import JSON

/// The body of Initiate Performance Test.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestrequest
package struct PerformanceTestRequest: WireModel {
    /// Of a purchase in the sandbox.
    package var originalTransactionId: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestRequest>] = [
        .init("originalTransactionId", \.originalTransactionId, isRequired: true)
    ]
}

/// The answer of Initiate Performance Test.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestresponse
package struct PerformanceTestResponse: WireModel {
    package var config: PerformanceTestConfig?
    /// Asks for the results.
    package var requestId: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestResponse>] = [
        .init("config", \.config, isRequired: true),
        .init("requestId", \.requestId, isRequired: true),
    ]
}

/// What a performance test does and asks for.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestconfig
package struct PerformanceTestConfig: WireModel {
    package var maxConcurrentRequests: Int64?
    package var totalRequests: Int64?
    /// Milliseconds.
    package var totalDuration: Int64?
    /// The longest time that an answer may take.
    package var responseTimeThreshold: Int64?
    /// Per cent.
    package var successRateThreshold: Int32?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestConfig>] = [
        .init("maxConcurrentRequests", \.maxConcurrentRequests, isRequired: true),
        .init("totalRequests", \.totalRequests, isRequired: true),
        .init("totalDuration", \.totalDuration, isRequired: true),
        .init("responseTimeThreshold", \.responseTimeThreshold, isRequired: true),
        .init("successRateThreshold", \.successRateThreshold, isRequired: true),
    ]
}

/// The answer of Get Performance Test Results.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestresultresponse
package struct PerformanceTestResultResponse: WireModel {
    package var config: PerformanceTestConfig?
    /// The URL that is tested.
    package var target: String?
    package var result: PerformanceTestStatus?
    /// Per cent.
    package var successRate: Int32?
    /// Requests without an answer so far.
    package var numPending: Int32?
    package var responseTimes: PerformanceTestResponseTimes?
    /// How many requests failed in which way.
    package var failures: [SendAttemptResult: Int32]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestResultResponse>] = [
        .init("config", \.config, isRequired: true),
        .init("target", \.target, isRequired: true),
        .init("result", \.result),
        .init("successRate", \.successRate, isRequired: true),
        .init("numPending", \.numPending, isRequired: true),
        .init("responseTimes", \.responseTimes, isRequired: true),
        .init("failures", \.failures),
    ]
}

/// How a performance test stands.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performanceteststatus
package struct PerformanceTestStatus: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let pending = PerformanceTestStatus(rawValue: "PENDING")
    package static let pass = PerformanceTestStatus(rawValue: "PASS")
    package static let fail = PerformanceTestStatus(rawValue: "FAIL")

    package static let known = [pending, pass, fail]
}

/// How long the answers of a performance test took: the mean and percentiles, in milliseconds.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestresponsetimes
package struct PerformanceTestResponseTimes: WireModel {
    package var average: Int64?
    package var p50: Int64?
    package var p90: Int64?
    package var p95: Int64?
    package var p99: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestResponseTimes>] = [
        .init("average", \.average, isRequired: true),
        .init("p50", \.p50, isRequired: true),
        .init("p90", \.p90, isRequired: true),
        .init("p95", \.p95, isRequired: true),
        .init("p99", \.p99, isRequired: true),
    ]
}
