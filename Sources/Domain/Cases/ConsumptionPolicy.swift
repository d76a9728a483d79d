/// The answer that an app gives by itself when nobody else has answered and the customer's consent is on record.
package struct ConsumptionPolicy: Sendable, Equatable {
    /// The caller of deliveries that a policy made; no configured caller has this name, as it is no slug.
    package static let caller = "(policy)"

    /// How long before the deadline it answers in Production; in the Sandbox it does at once, as Apple decides there within
    /// minutes.
    package let beforeDeadline: Duration
    package let answer: ConsumptionV2

    package init(beforeDeadline: Duration, answer: ConsumptionV2) {
        self.beforeDeadline = beforeDeadline
        self.answer = answer
    }
}
