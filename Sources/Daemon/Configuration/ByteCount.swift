/// Sizes as the configuration writes them: bytes, or a whole number of binary units (IEC 80000-13).
enum ByteCount {
    private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// Reads a size; `nil` when it is none or too large to count.
    static func parse(_ text: String) -> Int? {
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = text.dropLast(unit?.0.count ?? 0)
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(digits) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.1 ?? 1)
        return overflow ? nil : bytes
    }

    /// Writes a size in the largest unit that divides it.
    static func text(_ bytes: Int) -> String {
        guard let unit = units.first(where: { bytes >= $0.1 && bytes.isMultiple(of: $0.1) }) else { return "\(bytes)" }
        return "\(bytes / unit.1)\(unit.0)"
    }
}
