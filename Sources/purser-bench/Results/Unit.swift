import Foundation

/// What a figure counts.
enum Unit: String, Sendable, Encodable {
    case perSecond = "/s"
    case milliseconds = "ms"
    case microseconds = "µs"
    case nanoseconds = "ns"
    case seconds = "s"
    case megabytes = "MB"
    case bytes = "B"
    case percent = "%"

    /// A value with its unit, to three or four digits.
    func text(_ value: Double) -> String { "\(Self.plain(value)) \(rawValue)" }

    /// A number to three or four digits.
    static func plain(_ value: Double) -> String {
        let digits =
            switch abs(value) {
            case 100...: 0
            case 10..<100: 1
            case 0: 0
            default: 2
            }
        let text = String(format: "%.\(digits)f", value)
        return text.contains(".") ? text.replacing(/\.?0+$/, with: "") : text
    }
}
