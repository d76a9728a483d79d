/// What Apple does about refund requests by itself.
package struct RefundRules: Sendable, Hashable {
    /// How Apple decides when nobody tells it.
    package enum Policy: String, Sendable, Hashable, CaseIterable {
        case refund = "REFUND"
        case decline = "REFUND_DECLINED"
        /// As the consumption information asks; a full refund without any.
        case preference = "PREFERENCE"
    }

    /// From one consumption request to the next, in milliseconds of simulated time; Apple does not say how often it asks.
    package var repeatInterval: Int64
    /// From the request to the decision, in milliseconds of simulated time; nil leaves it to the control port.
    package var decisionDelay: Int64?
    package var policy: Policy

    package init(repeatInterval: Int64 = 4 * 3_600_000, decisionDelay: Int64? = nil, policy: Policy = .refund) {
        self.repeatInterval = repeatInterval
        self.decisionDelay = decisionDelay
        self.policy = policy
    }
}
