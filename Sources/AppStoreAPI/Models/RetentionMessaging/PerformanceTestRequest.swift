package import JSON

/// The body of Initiate Performance Test.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/performancetestrequest
package struct PerformanceTestRequest: WireModel {
    /// Of a purchase in the sandbox.
    package var originalTransactionId: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PerformanceTestRequest>] = [
        .init("originalTransactionId", \.originalTransactionId, isRequired: true)
    ]
}
