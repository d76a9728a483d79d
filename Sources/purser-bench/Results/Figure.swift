import Foundation

/// One figure of a row: its measurements, each with that of its reference from the same moment.
struct Figure: Sendable {
    /// One measurement.
    struct Sample: Sendable, Encodable {
        let value: Double
        /// The reference's, measured right before or after; nil for a figure that stands by itself.
        let reference: Double?

        /// The value in units of its reference.
        var ratio: Double? {
            guard let reference, reference > 0 else { return nil }
            return value / reference
        }
    }

    /// What it is, within its row.
    let name: String
    let unit: Unit
    /// What `Sample.reference` is, where it is not what the row names.
    var reference: String?
    var goal: Goal?
    /// What a reader must know of this figure, in a few words.
    var note: String?
    private(set) var samples: [Sample] = []

    init(_ name: String, _ unit: Unit, reference: String? = nil, goal: Goal? = nil, note: String? = nil) {
        self.name = name
        self.unit = unit
        self.reference = reference
        self.goal = goal
        self.note = note
    }

    /// Keeps one measurement.
    mutating func add(_ value: Double, against reference: Double? = nil) {
        samples.append(Sample(value: value, reference: reference))
    }

    var values: Spread? { Spread(samples.map(\.value)) }
    var references: Spread? { Spread(samples.compactMap(\.reference)) }
    var ratios: Spread? { Spread(samples.compactMap(\.ratio)) }

    /// Whether the goal is met by the medians; nil without a goal.
    var isMet: Bool? { goal.map { $0.isMet(value: values?.median, ratio: ratios?.median) } }
}

/// What a figure is held to.
enum Goal: Sendable, Equatable {
    /// At least so many times the reference.
    case ratioAtLeast(Double)
    /// At most so many times the reference.
    case ratioAtMost(Double)
    /// At most so much, in the figure's unit.
    case valueAtMost(Double)

    /// Whether medians meet the goal; what was not measured does not.
    func isMet(value: Double?, ratio: Double?) -> Bool {
        switch self {
        case .ratioAtLeast(let limit): ratio.map { $0 >= limit } ?? false
        case .ratioAtMost(let limit): ratio.map { $0 <= limit } ?? false
        case .valueAtMost(let limit): value.map { $0 <= limit } ?? false
        }
    }

    /// The goal as the table shows it.
    func text(_ unit: Unit) -> String {
        switch self {
        case .ratioAtLeast(let limit): "≥ \(Unit.plain(limit))×"
        case .ratioAtMost(let limit): "≤ \(Unit.plain(limit))×"
        case .valueAtMost(let limit): "≤ \(unit.text(limit))"
        }
    }
}

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

/// The middle of some numbers and how far they lie apart.
struct Spread: Sendable, Encodable {
    let median: Double
    let minimum: Double
    let maximum: Double

    /// - Returns: nil when there are no numbers.
    init?(_ numbers: [Double]) {
        let sorted = numbers.sorted()
        guard let minimum = sorted.first, let maximum = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        self.minimum = minimum
        self.maximum = maximum
    }
}

extension Duration {
    /// In seconds, with fractions.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
