package import JSON

/// How long the answers of a performance test took: the mean and percentiles, in milliseconds.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestresponsetimes
package struct PerformanceTestResponseTimes: WireModel {
    package var average: Int64?
    package var p50: Int64?
    package var p90: Int64?
    package var p95: Int64?
    package var p99: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestResponseTimes>] = [
        .init("average", \.average, isRequired: true),
        .init("p50", \.p50, isRequired: true),
        .init("p90", \.p90, isRequired: true),
        .init("p95", \.p95, isRequired: true),
        .init("p99", \.p99, isRequired: true),
    ]
}
