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
