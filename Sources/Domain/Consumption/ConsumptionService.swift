package import Foundation
package import Logging

/// Sends consumption information: the rules around Apple's call.
package struct ConsumptionService: Sendable {
    private let gateway: any AppStoreGateway
    private let links: any LinkStore
    private let now: WallClock
    private let makeID: @Sendable (Date) -> String
    private let logger: Logger

    /// `makeID`: makes a delivery's id, ordered by the time given.
    package init(
        gateway: any AppStoreGateway, links: any LinkStore, now: @escaping WallClock,
        makeID: @escaping @Sendable (Date) -> String, logger: Logger
    ) {
        self.gateway = gateway
        self.links = links
        self.now = now
        self.makeID = makeID
        self.logger = logger
    }

    /// What a caller asks to be sent.
    package struct Request: Sendable {
        package let caller: String
        /// The user whose purchase it must be; nil when the caller only names the transaction.
        package let user: UserID?
        package let transactionID: String
        package let answer: ConsumptionAnswer
        /// When the answer ceases to be of use; nil means 12 hours from now.
        package let deadline: Date?

        package init(
            caller: String, user: UserID?, transactionID: String, answer: ConsumptionAnswer, deadline: Date?
        ) {
            self.caller = caller
            self.user = user
            self.transactionID = transactionID
            self.answer = answer
            self.deadline = deadline
        }
    }

    /// Checks the answer against the purchase and its owner, sends it, and learns the link that Apple's acceptance proves.
    ///
    /// - Returns: the delivery, in state `accepted`.
    /// - Throws: `invalidRequest`, `ownedByAnotherUser`, or what the gateway or the store throws; a failure after the first
    ///   attempt carries the delivery.
    package func send(_ request: Request, _ call: UpstreamCall) async throws(ServiceError) -> Delivery {
        let createdAt = now()
        let latest = createdAt.addingTimeInterval(RefundCase.answerWindow)
        let deadline = min(request.deadline ?? latest, latest)
        guard deadline > createdAt else {
            throw .invalid([
                Violation(field: "deadline", rule: "future", message: "`deadline` must lie in the future.")
            ])
        }
        let transaction = try await gateway.transaction(request.transactionID, call)
        try await requireOwner(of: transaction, request, app: call.app.slug)
        let verdict = try ConsumptionRules.check(request.answer, against: transaction)
        let remaining = Duration.seconds(deadline.timeIntervalSince(now()))
        let sending = UpstreamCall(
            app: call.app, environment: transaction.environment,
            deadline: min(call.deadline, ContinuousClock.now + remaining), caller: call.caller,
            priority: .deadlineBound)
        let message = ConsumptionMessage(
            version: verdict.answer.version, transactionID: request.transactionID,
            body: gateway.consumptionBody(verdict.answer))
        let outcome = await gateway.sendConsumption(message, sending)
        let delivery = Delivery(
            id: makeID(createdAt), app: call.app.slug, caseID: nil, user: request.user, caller: request.caller,
            transactionID: request.transactionID, environment: transaction.environment, purchase: transaction.facts,
            version: message.version, body: message.body, state: Self.state(after: outcome), createdAt: createdAt,
            deadline: deadline, nextAttemptAt: nil, attempts: outcome.attempts, attemptCount: outcome.attempts.count,
            mayHaveReachedApple: outcome.mayHaveReachedApple, warnings: verdict.warnings)
        if let failure = outcome.failure { throw failure.error.about(delivery) }
        await learn(from: delivery)
        return delivery
    }

    /// Refuses when the purchase is known to be another user's; a purchase whose owner nobody knows may be anyone's.
    private func requireOwner(
        of transaction: Transaction, _ request: Request, app: String
    ) async throws(ServiceError) {
        guard let user = request.user else { return }
        let rule = try await OwnerRule.load(for: [transaction], app: app, asking: user, from: links)
        guard let owner = rule.owner(of: transaction), owner != user else { return }
        throw ServiceError(
            .ownedByAnotherUser,
            "Transaction `\(transaction.transactionID)` belongs to user `\(owner)`, not to `\(user)`; name that user, or transfer the link."
        )
    }

    /// The answer has reached Apple: a link that cannot be recorded now must not turn that into a failure.
    private func learn(from delivery: Delivery) async {
        guard let user = delivery.user else { return }
        let statement = Link(
            app: delivery.app, user: user, target: LinkTarget(.transactionId, delivery.transactionID),
            environment: delivery.environment, source: .consumption, validFrom: nil, validUntil: nil,
            createdAt: now(), createdBy: delivery.caller)
        do {
            if case .conflict = try await links.learn(statement) {
                logger.notice(
                    "The consumption call names a user other than the linked one; the link stays",
                    metadata: ["app": "\(delivery.app)", "delivery": "\(delivery.id)"])
            }
        } catch {
            logger.error(
                "The link that Apple's acceptance proves could not be recorded",
                metadata: ["app": "\(delivery.app)", "delivery": "\(delivery.id)", "cause": "\(error.cause ?? "")"])
        }
    }

    private static func state(after outcome: ConsumptionOutcome) -> Delivery.State {
        switch outcome.failure?.error.reason {
        case nil: .accepted
        case .appleRejected: .refused
        default: .expired
        }
    }
}
