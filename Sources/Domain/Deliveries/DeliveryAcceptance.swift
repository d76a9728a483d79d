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
        /// Somebody whose consent matters has withdrawn it.
        case withdrawn(ConsentObjection)
    }

    /// What the rule looks at.
    package struct Situation: Sendable {
        /// The delivery that the idempotency key stands for, with the digest of its request.
        package var keyed: (delivery: Delivery, requestDigest: [UInt8])?
        /// The delivery's case.
        package var refundCase: RefundCase?
        /// The deliveries of that case.
        package var siblings: [Delivery] = []
        package var objection: ConsentObjection?

        package init() {}
    }

    /// What is to be done with a draft.
    package static func decide(_ draft: DeliveryDraft, _ situation: Situation) -> Decision {
        if let keyed = situation.keyed {
            return keyed.requestDigest == draft.requestDigest ? .existing(keyed.delivery) : .keyReused(keyed.delivery)
        }
        let new = draft.delivery
        let same = situation.siblings.last { sibling in
            sibling.version == new.version && sibling.transactionID == new.transactionID && sibling.body == new.body
                && (!sibling.state.isFinal || sibling.state == .accepted)
        }
        if let same { return .existing(same) }
        if let refundCase = situation.refundCase, !refundCase.state.takesAnswers { return .caseClosed(refundCase) }
        if let objection = situation.objection { return .withdrawn(objection) }
        if let other = situation.siblings.last(where: { !$0.state.isFinal }) { return .anotherUnderWay(other) }
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

    package init(
        delivery: Delivery, idempotencyKey: IdempotencyKey?, requestDigest: [UInt8], subject: ConsentSubject
    ) {
        self.delivery = delivery
        self.idempotencyKey = idempotencyKey
        self.requestDigest = requestDigest
        self.subject = subject
    }
}
