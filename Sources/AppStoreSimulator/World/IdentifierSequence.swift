/// Rising numbers with gaps, which look like Apple's and come out the same for the same seed.
struct IdentifierSequence: Sendable {
    private var last: UInt64
    private let largestGap: UInt64

    init(from start: ClosedRange<UInt64>, largestGap: UInt64, using generator: inout SeededGenerator) {
        last = UInt64.random(in: start, using: &generator)
        self.largestGap = largestGap
    }

    mutating func next(using generator: inout SeededGenerator) -> String {
        last += UInt64.random(in: 1...largestGap, using: &generator)
        return String(last)
    }
}
