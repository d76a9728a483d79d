/// What one attempt came to, as it is to be recorded.
struct AttemptResult: Sendable {
    let transfer: Transfer
    let conclusion: DeliveryConclusion
    /// A lane that others need not try for so long.
    let pause: (lane: DeliveryLane, duration: Duration)?

    /// The delivery as the store has it, with what only this attempt knows: Apple's answer byte for byte.
    func completed(_ recorded: Delivery) -> Delivery {
        guard recorded.state == .refused, case .refused(let failure) = conclusion.outcome else { return recorded }
        var delivery = recorded
        delivery.failure = failure
        return delivery
    }

    /// The delivery as it is as long as the store cannot record the result.
    var unrecorded: Delivery {
        var delivery = transfer.delivery
        delivery.attempts += conclusion.attempts
        delivery.attemptCount += conclusion.attempts.count
        delivery.mayHaveReachedApple = delivery.mayHaveReachedApple || conclusion.mayHaveReachedApple
        switch conclusion.outcome {
        case .accepted: delivery.state = .accepted
        case .refused(let failure), .expired(let failure), .cancelled(let failure), .retry(_, let failure):
            delivery.failure = failure
        }
        return delivery
    }
}
