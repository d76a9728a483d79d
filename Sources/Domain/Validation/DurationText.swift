/// Durations as the configuration writes them: a whole number and one of `ms`, `s`, `m`, `h`, `d`.
package enum DurationText {
    /// From the largest down, in milliseconds; `ms` stands before the suffixes that it contains.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
    ]

    /// Reads a duration; `nil` when it is none or longer than a century.
    package static func parse(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        let digits = text.dropLast(unit.name.count)
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int64(digits),
            number <= 36_525 * 86_400_000 / unit.milliseconds
        else { return nil }
        return .milliseconds(number * unit.milliseconds)
    }

    /// Writes a duration in the largest unit that divides it.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return "0s" }
        let dividing = units.filter { milliseconds.isMultiple(of: $0.milliseconds) }
        let unit = dividing.max { $0.milliseconds < $1.milliseconds } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
