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
