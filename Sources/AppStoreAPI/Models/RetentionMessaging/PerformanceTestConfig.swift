package import JSON

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
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestConfig>] = [
        .init("maxConcurrentRequests", \.maxConcurrentRequests, isRequired: true),
        .init("totalRequests", \.totalRequests, isRequired: true),
        .init("totalDuration", \.totalDuration, isRequired: true),
        .init("responseTimeThreshold", \.responseTimeThreshold, isRequired: true),
        .init("successRateThreshold", \.successRateThreshold, isRequired: true),
    ]
}
