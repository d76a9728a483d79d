package import JSON

/// The answer of Initiate Performance Test.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestresponse
package struct PerformanceTestResponse: WireModel {
    package var config: PerformanceTestConfig?
    /// Asks for the results.
    package var requestId: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestResponse>] = [
        .init("config", \.config, isRequired: true),
        .init("requestId", \.requestId, isRequired: true),
    ]
}
