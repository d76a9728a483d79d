extension SubscriptionStatus {
    /// The statuses that Apple takes as a filter.
    static let filterRange: ClosedRange<Int32> = 1...5

    /// Reads the statuses to report from the values of the query parameter `status`, each of them once.
    ///
    /// - Throws: `invalidRequest` with every violation.
    package static func filter(_ values: [String]) throws(ServiceError) -> [SubscriptionStatus] {
        var statuses: [SubscriptionStatus] = []
        var violations: [Violation] = []
        for text in values {
            guard let number = Int32(text), String(number) == text, filterRange.contains(number) else {
                violations.append(
                    Violation(
                        field: "status", rule: "range",
                        message: "`status` must be from 1 (active) to 5 (revoked); it may be given several times.",
                        appleError: AppleErrorName("InvalidStatusError", 4_000_031)))
                continue
            }
            let status = SubscriptionStatus(rawValue: number)
            if !statuses.contains(status) { statuses.append(status) }
        }
        guard violations.isEmpty else { throw .invalid(violations) }
        return statuses
    }
}
