package import Foundation

/// How an app answers Apple's refund requests that nobody else answers: the first rule that applies says what is sent.
package struct RefundPolicy: Sendable, Equatable {
    /// The caller of deliveries that a policy made; no configured caller has this name, as it is no slug.
    package static let caller = "(policy)"
    /// The most rules of one policy.
    package static let maximumRules = 100

    /// In the order in which they are tried.
    package let rules: [RefundRule]

    package init(rules: [RefundRule]) { self.rules = rules }
}

/// One rule of a policy: for which requests it is, and what it says of them.
package struct RefundRule: Sendable, Equatable {
    /// What is done about a request.
    package enum Outcome: Sendable, Equatable {
        /// Apple gets what is known, and what the company would like; nil: it leaves that to Apple.
        case answer(ConsumptionV2.RefundPreference?, Statement)
        /// Apple gets nothing.
        case silence
    }

    /// What the company states of all purchases that a rule is for, where no usage was reported.
    package struct Statement: Sendable, Equatable {
        package var deliveryStatus: ConsumptionV2.DeliveryStatus?
        package var sampleContentProvided: Bool?
        /// In milliunits.
        package var consumptionPercentage: Int32?

        package init(
            deliveryStatus: ConsumptionV2.DeliveryStatus? = nil, sampleContentProvided: Bool? = nil,
            consumptionPercentage: Int32? = nil
        ) {
            self.deliveryStatus = deliveryStatus
            self.sampleContentProvided = sampleContentProvided
            self.consumptionPercentage = consumptionPercentage
        }
    }

    /// How long before the deadline a rule acts where it does not say.
    package static let usualLead = Duration.seconds(3600)
    /// What a lead may be; the shortest leaves time for attempts that fail.
    package static let leads: ClosedRange<Duration> = .seconds(300)...(.seconds(RefundCase.answerWindow))

    package let name: String
    package let match: RefundMatch
    package let outcome: Outcome
    /// How long before the deadline it acts in Production; nil: at once.
    ///
    /// In the Sandbox it always acts at once, as Apple decides there within minutes.
    package let lead: Duration?

    package init(name: String, match: RefundMatch = RefundMatch(), outcome: Outcome, lead: Duration? = usualLead) {
        self.name = name
        self.match = match
        self.outcome = outcome
        self.lead = lead
    }

    /// From when on it acts on a request.
    package func due(for refundCase: RefundCase) -> Date {
        guard let lead, refundCase.environment == .production else { return refundCase.requestedAt }
        return refundCase.deadline.addingTimeInterval(-(lead / .seconds(1)))
    }
}

// MARK: Deciding

extension RefundPolicy {
    /// What is known when a request is decided.
    package struct Facts: Sendable {
        package let refundCase: RefundCase
        package let usage: UsageReport?
        /// How many other purchases of the owner Apple has refunded; nil where the owner is not known.
        package let refunds: Int?

        package init(refundCase: RefundCase, usage: UsageReport?, refunds: Int?) {
            self.refundCase = refundCase
            self.usage = usage
            self.refunds = refunds
        }
    }

    /// What the policy says of a request.
    package enum Decision: Sendable, Equatable {
        case answer(RefundRule, ConsumptionAnswer, PolicyTrace)
        case silence(RefundRule)
        /// No rule applies.
        case undecided

        /// The rule that applies.
        package var rule: RefundRule? {
            switch self {
            case .answer(let rule, _, _), .silence(let rule): rule
            case .undecided: nil
            }
        }
    }

    /// A rule that was passed over, and why.
    package struct PassedRule: Sendable, Equatable {
        package let name: String
        /// In words for the company, such as `the storefront is another one`.
        package let why: String
    }

    /// Tries the rules in their order: a rule that needs what is not known does not apply, and nothing is guessed.
    ///
    /// `now`: when the age of an account is told, for Apple's version 1.
    package func decide(_ facts: Facts, at now: Date) -> (decision: Decision, passed: [PassedRule]) {
        var passed: [PassedRule] = []
        for rule in rules {
            if let misfit = rule.match.misfit(facts) {
                passed.append(PassedRule(name: rule.name, why: misfit))
                continue
            }
            guard case .answer(let preference, let statement) = rule.outcome else { return (.silence(rule), passed) }
            do throws(PolicyAnswer.Obstacle) {
                let made = try PolicyAnswer.make(preference, statement, facts, at: now)
                let trace = PolicyTrace(
                    rule: rule.name, facts: rule.match.names + made.usage.filter { !rule.match.names.contains($0) },
                    usageAt: made.usage.isEmpty && !rule.match.readsUsage ? nil : facts.usage?.at)
                return (.answer(rule, made.answer, trace), passed)
            } catch {
                passed.append(PassedRule(name: rule.name, why: error.why))
            }
        }
        return (.undecided, passed)
    }
}
