/// How much of a capacity one of several callers may use.
///
/// `docs/decisions/0006-rate-budgets.md` tells what follows from the rule.
enum FairShare {
    /// What a caller may use in all, what it has used included.
    ///
    /// Its fair share is the capacity divided by the callers; as long as somebody may still come, one share more is kept
    /// for whoever that is, and nobody's fair share is more than half of what the others have left. Beyond it a caller may
    /// borrow the first half of the rest.
    ///
    /// - Parameters:
    ///   - capacity: what there is for all callers together.
    ///   - usedByOthers: what the others have used of it.
    ///   - callers: how many have used anything, the one who asks included; at least one.
    ///   - mayGrow: whether somebody may still come.
    /// - Returns: never more than the others have left, and at least one if they have left anything.
    static func allowance(of capacity: Int, usedByOthers: Int, callers: Int, mayGrow: Bool) -> Int {
        let left = max(0, capacity - usedByOthers)
        let share = mayGrow ? min(capacity / (callers + 1), left / 2) : min(capacity / callers, left)
        return share + (left - share + 1) / 2
    }
}
