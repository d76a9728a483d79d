/// A JSON number, kept as it is written, so that no digit is lost on the way through.
///
/// Two numbers are equal when they are written alike: `1` and `1.0` differ.
package struct JSONNumber: Sendable, Hashable {
    /// The number as it stands in the document.
    package let text: String

    package init(_ value: some FixedWidthInteger) { text = String(value) }

    /// The shortest number that reads back as this double, or nil for an infinity or NaN, which JSON cannot write.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// A number that a ``JSONCursor`` has accepted.
    init(accepted text: String) { self.text = text }

    /// The value if it is mathematically an integer in range, however it is written: `12`, `12.0` and `1.2e1` are
    /// equal.
    package var int64: Int64? { Self.int64(text.utf8) }

    /// The nearest double, or nil if the number is beyond the range of doubles.
    package var double: Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }

    /// Reads an integer exactly, without going through floating point.
    ///
    /// - Parameter text: A number that a ``JSONCursor`` has accepted.
    /// - Returns: The integer, or nil if there is a fraction or it is out of range.
    static func int64(_ text: some Collection<UInt8>) -> Int64? {
        var rest = text[...]
        let isNegative = rest.first == ASCII.minus
        if isNegative { rest.removeFirst() }
        var magnitude: UInt64 = 0
        // Zeros wait until a digit follows them: those that end the number may be undone by its exponent.
        var waitingZeros = 0
        var fractionDigits = 0
        var isFraction = false
        while let byte = rest.popFirst() {
            if byte == ASCII.point {
                isFraction = true
                continue
            }
            guard ASCII.zero...ASCII.nine ~= byte else { break }
            if isFraction { fractionDigits += 1 }
            if byte == ASCII.zero {
                waitingZeros += 1
                continue
            }
            // Digits beyond the range here cannot come back into it: the last of them would have to stay left of the
            // point.
            guard let shifted = scale(magnitude, places: waitingZeros + 1) else { return nil }
            let (sum, overflow) = shifted.addingReportingOverflow(UInt64(byte - ASCII.zero))
            guard !overflow else { return nil }
            magnitude = sum
            waitingZeros = 0
        }
        let places = waitingZeros - fractionDigits + exponent(rest)
        guard magnitude > 0 else { return 0 }
        guard places >= 0, let magnitude = scale(magnitude, places: places) else { return nil }
        guard isNegative else { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }

    /// Multiplies by a power of ten, or answers nil when the product does not fit.
    private static func scale(_ magnitude: UInt64, places: Int) -> UInt64? {
        guard magnitude > 0 else { return 0 }
        var result = magnitude
        for _ in 0..<places {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            result = product
        }
        return result
    }

    /// Reads what follows the `e`, capped far beyond the length of any document.
    private static func exponent(_ text: some Collection<UInt8>) -> Int {
        let magnitude = text.lazy.filter { ASCII.zero...ASCII.nine ~= $0 }
            .reduce(0) { min($0 * 10 + Int($1 - ASCII.zero), 1_000_000_000_000_000) }
        return text.first == ASCII.minus ? -magnitude : magnitude
    }
}
