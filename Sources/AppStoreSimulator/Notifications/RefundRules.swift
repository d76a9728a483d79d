import AppStoreAPI

/// What Apple does about refund requests by itself.
package struct RefundRules: Sendable, Hashable {
    /// How Apple decides when nobody tells it.
    package enum Policy: String, Sendable, Hashable, CaseIterable {
        case refund = "REFUND"
        case decline = "REFUND_DECLINED"
        /// As the consumption information asks; a full refund without any.
        case preference = "PREFERENCE"
        /// As Apple's sandbox does, which looks at what the customer wrote and at no answer.
        case sandbox = "SANDBOX"
        /// By chance, which reason and answer weigh: see `RefundChance`.
        case answer = "ANSWER"
    }

    /// What a tester writes under the reason "Other" to have the sandbox decide in another way.
    ///
    /// Source: https://developer.apple.com/documentation/storekit/testing-refund-requests
    enum SandboxText {
        static let decline = "DECLINE"
        static let prorated = "GRANT_PRORATED"
    }

    /// From one consumption request to the next, in milliseconds of simulated time; Apple does not say how often it asks.
    package var repeatInterval: Int64
    /// From the request to the decision, in milliseconds of simulated time; nil leaves it to the control port.
    package var decisionDelay: Int64?
    package var policy: Policy
    /// What the chances of ``Policy/answer`` are drawn from; nil for the simulator's own seed.
    package var seed: UInt64?

    package init(
        repeatInterval: Int64 = 4 * 3_600_000, decisionDelay: Int64? = nil, policy: Policy = .refund,
        seed: UInt64? = nil
    ) {
        self.repeatInterval = repeatInterval
        self.decisionDelay = decisionDelay
        self.policy = policy
        self.seed = seed
    }

    /// What holds in an environment until the control port says otherwise: the sandbox decides as Apple's does.
    package static func standard(in environment: SimulatedEnvironment) -> RefundRules {
        RefundRules(policy: environment == .sandbox ? .sandbox : .refund)
    }

    /// Decides a request; the same rules, request and purchase come to the same.
    ///
    /// - Parameters:
    ///   - request: what the customer asked and the app answered.
    ///   - purchase: what it is about.
    ///   - date: when it is decided, UNIX milliseconds.
    ///   - seed: what chances are drawn from when the rules have no seed of their own.
    /// - Returns: what Apple decides.
    func decision(
        on request: RefundRequest, of purchase: TransactionPayload, at date: Int64, seed: UInt64
    ) -> RefundRequest.Decision {
        switch policy {
        case .refund: return .refund(percentage: Refund.whole)
        case .decline: return .decline
        case .preference:
            switch request.answer?.preference {
            case .decline: return .decline
            case .grantProrated:
                return .refund(percentage: purchase.proratedPercentage(consumed: request.answer?.consumed, at: date))
            default: return .refund(percentage: Refund.whole)
            }
        case .sandbox: return Self.sandboxDecision(on: request, of: purchase, at: date)
        case .answer: return RefundChance(request, seed: self.seed ?? seed).decision(of: purchase, at: date)
        }
    }

    private static func sandboxDecision(
        on request: RefundRequest, of purchase: TransactionPayload, at date: Int64
    ) -> RefundRequest.Decision {
        guard request.reason == .other else { return .refund(percentage: Refund.whole) }
        return switch request.text {
        case SandboxText.decline: .decline
        // By the page above a share of one half, whatever an app reported, and of subscriptions the time that is left.
        case SandboxText.prorated: .refund(percentage: purchase.proratedPercentage(consumed: nil, at: date))
        default: .refund(percentage: Refund.whole)
        }
    }
}

extension TransactionPayload {
    /// The share that a prorated refund gives back, in milliunits: of a subscription the time that is left, otherwise what was not
    /// consumed, and one half where nobody knows, as in Apple's sandbox.
    ///
    /// - Parameters:
    ///   - consumed: the share that the app says was used, in milliunits; nil when it does not say.
    ///   - date: when the refund is decided, UNIX milliseconds.
    /// - Returns: 1 to ``Refund/whole``.
    func proratedPercentage(consumed: Int32?, at date: Int64) -> Int32 {
        let share: Int64
        if type == .autoRenewableSubscription {
            guard let start = purchaseDate, let end = expiresDate, end > start else { return Refund.whole }
            share = (end - min(max(date, start), end)) * Int64(Refund.whole) / (end - start)
        } else {
            share = Int64(Refund.whole - (consumed ?? Refund.whole / 2))
        }
        // A refund of nothing is none; whoever asked for one gets the least that there is.
        return Int32(min(max(share, 1), Int64(Refund.whole)))
    }
}
