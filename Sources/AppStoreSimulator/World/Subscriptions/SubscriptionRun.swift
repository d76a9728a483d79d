/// The periods of a subscription as one customer has them: the purchaser, or a member of the family.
struct SubscriptionRun: Sendable {
    /// The transaction of the period that begins last.
    var latestID: String
    /// When the present run began, without a gap since that Apple would take notice of; UNIX milliseconds.
    var start: Int64
}
