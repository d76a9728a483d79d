package import JSON

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
    package var additional: [String: JSONValue] = [:]

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
