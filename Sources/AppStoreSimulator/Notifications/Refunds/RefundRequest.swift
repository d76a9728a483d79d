package import AppStoreAPI

/// A customer's wish to have money back, until it is decided and beyond.
package struct RefundRequest: Sendable {
    /// What becomes of it.
    package enum Decision: Sendable, Hashable {
        /// In milliunits: 100000 is a full refund, less a prorated one.
        case refund(percentage: Int32)
        case decline
    }

    package let transactionID: String
    let environment: SimulatedEnvironment
    package let reason: ConsumptionRequestReason
    /// UNIX milliseconds.
    package let requestDate: Int64
    /// How often Apple has asked for consumption information.
    package internal(set) var askedCount = 0
    /// When Apple asks again, UNIX milliseconds.
    package internal(set) var nextRepeatDate: Int64?
    /// When Apple decides by itself, UNIX milliseconds; nil when it does not.
    package internal(set) var decisionDate: Int64?
    /// What the consumption information that came in asks for.
    package internal(set) var preference: Decision?
    /// Nil while it is undecided.
    package internal(set) var decision: Decision?
}
