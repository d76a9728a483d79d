package import Foundation

/// Decides whether a delivery is accepted.
///
/// Pure, so that every store gives the same answers: a store loads what the rule looks at, asks here, and applies the decision
/// within one transaction.
package enum AcceptRules {
    /// What a store must do.
    package enum Decision: Sendable, Equatable {
        /// Keep the delivery.
        case created(Delivery)
        /// The same answer is under way or has been accepted: nothing is kept, this one stands.
        case existing(Delivery)
        /// Another request came under the same idempotency key.
        case keyReused(Delivery)
        /// Another answer to the same case is under way.
        case anotherUnderWay(Delivery)
        /// The case takes no answers any more.
        case caseClosed(RefundCase)
        /// Apple has refunded the purchase, in a case of which nobody here knows.
        case refunded
        /// Somebody whose consent matters has withdrawn it.
        case withdrawn(ConsentObjection)
    }

    /// What the rule looks at.
    package struct Situation: Sendable {
        /// The delivery that the idempotency key stands for, with the digest of its request.
        package var keyed: (delivery: Delivery, requestDigest: [UInt8])?
        /// What is known of the purchase.
        package var purchase = FactRules.Situation()
        /// By the owner rule; nil when nobody is known.
        package var owner: UserID?
        package var objection: ConsentObjection?
        /// What a policy has answered the case before, whatever became of it; to be known where the draft is a policy's.
        package var policyAnswer: Delivery?

        package init() {}
    }

    /// What is to be done with a draft.
    package static func decide(_ draft: DeliveryDraft, _ situation: Situation) -> Decision {
        if let keyed = situation.keyed {
            return keyed.requestDigest == draft.requestDigest ? .existing(keyed.delivery) : .keyReused(keyed.delivery)
        }
        var new = draft.delivery
        // Once a case: of two copies of the daemon that looked at the same time the second finds the first one's.
        if new.policy != nil, let answered = situation.policyAnswer { return .existing(answered) }
        let places = FactRules.Places(situation.purchase.cases)
        let place = places.place(of: new)
        let refundCase =
            draft.isForCase ? situation.purchase.cases.cases.first { $0.id == new.caseID } : place.refundCase
        let siblings = situation.purchase.deliveries.filter { sibling in
            let other = places.place(of: sibling)
            guard other.refundCase?.id == refundCase?.id else { return false }
            // Without a case only what is as young as a request can be.
            return refundCase != nil
                || other.end == nil && sibling.createdAt > new.createdAt.addingTimeInterval(-RefundCase.answerWindow)
        }
        let same = siblings.last { sibling in
            sibling.version == new.version && sibling.transactionID == new.transactionID && sibling.body == new.body
                && (!sibling.state.isFinal || sibling.state == .accepted)
        }
        if let same { return .existing(same) }
        if let refundCase {
            guard refundCase.takesAnswers(at: new.createdAt) else { return .caseClosed(refundCase) }
        } else if place.end != nil || place.isRefunded {
            return .refunded
        }
        if let objection = situation.objection { return .withdrawn(objection) }
        if let other = siblings.last(where: { !$0.state.isFinal }) { return .anotherUnderWay(other) }
        new.caseID = refundCase?.id
        new.acceptedFor = new.user ?? situation.owner
        new.owner = situation.owner
        new.deadline = min(new.deadline, FactRules.Place(refundCase: refundCase, end: nil).deadline(of: new))
        return .created(new)
    }
}

/// Recognises a request that a caller repeats.
///
/// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
package struct IdempotencyKey: Sendable, Hashable {
    /// How long a key is remembered.
    package static let lifetime: TimeInterval = 24 * 3600
    /// The longest key, in characters.
    package static let maximumLength = 255

    package let caller: String
    package let app: String
    /// The route's path with its parameters, so that one key can serve different purposes.
    package let route: String
    /// As the caller sent it.
    package let key: String

    package init(caller: String, app: String, route: String, key: String) {
        self.caller = caller
        self.app = app
        self.route = route
        self.key = key
    }
}

/// A delivery that somebody wants to be accepted.
package struct DeliveryDraft: Sendable {
    /// In state `queued`.
    package let delivery: Delivery
    package let idempotencyKey: IdempotencyKey?
    /// SHA-256 of the request, to tell whether another one comes under the same key.
    package let requestDigest: [UInt8]
    /// Whose consent matters besides the named user's.
    package let subject: ConsentSubject
    /// Whether it was asked for by its case, so that it is for no other.
    package let isForCase: Bool

    package init(
        delivery: Delivery, idempotencyKey: IdempotencyKey?, requestDigest: [UInt8], subject: ConsentSubject,
        isForCase: Bool = false
    ) {
        self.delivery = delivery
        self.isForCase = isForCase
        self.idempotencyKey = idempotencyKey
        self.requestDigest = requestDigest
        self.subject = subject
    }
}
