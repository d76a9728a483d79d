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
