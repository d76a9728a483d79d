extension Duration {
    /// Whole milliseconds, rounded up, so that a limit of a fraction does not become none; never negative.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64.max / 2_000 else { return .max }
        return Int(max(0, seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
