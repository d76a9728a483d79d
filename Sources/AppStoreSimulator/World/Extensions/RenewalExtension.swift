/// One extension of a subscription's renewal date.
struct RenewalExtension: Sendable {
    /// What the caller named it, by which a repetition is known.
    let requestIdentifier: String
    /// When it was made, UNIX milliseconds.
    let date: Int64
    /// The period that was extended: Apple's line item.
    let lineItem: String?
    /// When that period ends since, UNIX milliseconds.
    let effectiveDate: Int64
}
