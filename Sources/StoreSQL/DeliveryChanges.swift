import Domain
import Foundation

extension DeliveryRow {
    /// Keeps a new delivery, queued, and writes the event.
    static func insert(_ delivery: Delivery, into database: SQLDatabase) throws {
        let due = delivery.nextAttemptAt ?? delivery.createdAt
        let isReady = due <= delivery.createdAt
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO delivery
                    (id, app, caseId, user, acceptedFor, caller, transactionId, environment, version, body, warnings, createdAt,
                     deadline, requestedDeadline, state, isReady, nextAttemptAt, dueAt, originalTransactionId,
                     webOrderLineItemId, appTransactionId, appAccountToken, productId, productType, purchaseDate,
                     expiresDate, isFamilyShared, isAdvancedCommerce, refundPreference, policyRule, policyFacts)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let purchase = delivery.purchase
        try statement.execute(
            arguments: [
                delivery.id, delivery.app, delivery.caseID, delivery.user.map(LinkRow.bytes),
                delivery.acceptedFor.map(LinkRow.bytes), delivery.caller,
                delivery.transactionID, delivery.environment?.rawValue, delivery.version.rawValue, Data(delivery.body),
                delivery.warnings.isEmpty ? nil : try JSONEncoder().encode(delivery.warnings),
                delivery.createdAt.milliseconds, delivery.deadline.milliseconds,
                delivery.requestedDeadline?.milliseconds, Delivery.State.queued.rawValue, isReady, due.milliseconds,
                isReady ? nil : min(due, delivery.deadline).milliseconds,
                purchase?.originalTransactionID, purchase?.webOrderLineItemID, purchase?.appTransactionID,
                purchase?.appAccountToken, purchase?.productID, purchase?.productType?.rawValue,
                purchase?.purchaseDate.milliseconds, purchase?.expiresDate?.milliseconds, purchase?.isFamilyShared,
                purchase?.isAdvancedCommerce, delivery.refundPreference?.rawValue, delivery.policy?.rule,
                try delivery.policy?.storedFacts,
            ])
        try EventRow.append(event(.deliveryQueued, of: delivery, at: delivery.createdAt), to: database)
    }

    /// Keeps what was found out about a purchase; its transaction id and environment are the delivery's.
    static func save(_ purchase: PurchaseFacts, of id: String, in database: SQLDatabase) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE delivery SET originalTransactionId = ?, webOrderLineItemId = ?, appTransactionId = ?,
                    appAccountToken = ?, productId = ?, productType = ?, purchaseDate = ?, expiresDate = ?,
                    isFamilyShared = ?, isAdvancedCommerce = ?
                WHERE id = ?
                """)
        try statement.execute(
            arguments: [
                purchase.originalTransactionID, purchase.webOrderLineItemID, purchase.appTransactionID,
                purchase.appAccountToken, purchase.productID, purchase.productType?.rawValue,
                purchase.purchaseDate.milliseconds, purchase.expiresDate?.milliseconds, purchase.isFamilyShared,
                purchase.isAdvancedCommerce, id,
            ])
    }

    /// Keeps what is new of a delivery that leaves the state `sending` or ends: the state, when it is tried next, what
    /// went wrong, attempts behind those that there were; writes the event of an end.
    ///
    /// - Returns: the delivery as it now is.
    func save(
        _ changed: Delivery, adding attempts: [DeliveryAttempt] = [], at now: Date, in database: SQLDatabase
    ) throws -> Delivery {
        var changed = changed
        try AttemptRow.append(attempts, to: changed.id, behind: changed.attemptCount, in: database)
        changed.attempts += attempts
        changed.attemptCount += attempts.count
        let isReady = changed.state == .queued ? changed.nextAttemptAt.map { $0 <= now } ?? true : nil
        let due = isReady == false ? changed.nextAttemptAt.map { min($0, changed.deadline) } : nil
        let statement = try database.cachedStatement(
            sql: """
                UPDATE delivery SET state = ?, isReady = ?, nextAttemptAt = ?, dueAt = ?, attemptCount = ?,
                    mayHaveReachedApple = ?, failure = ?, worker = NULL, claimedAt = NULL, leaseUntil = NULL, endedAt = ?
                WHERE id = ?
                """)
        try statement.execute(
            arguments: [
                changed.state.rawValue, isReady, changed.nextAttemptAt?.milliseconds, due?.milliseconds,
                changed.attemptCount, changed.mayHaveReachedApple, try changed.failure?.stored,
                changed.endedAt?.milliseconds, changed.id,
            ])
        if let kind = changed.state.eventOfEnd {
            try EventRow.append(Self.event(kind, of: changed, at: now), to: database)
        }
        return changed
    }

    /// Ends a delivery.
    ///
    /// - Returns: the delivery as it now is.
    func end(
        as state: Delivery.State, because failure: DeliveryFailure?, adding attempts: [DeliveryAttempt] = [],
        at now: Date, in database: SQLDatabase
    ) throws -> Delivery {
        var ended = delivery
        ended.state = state
        ended.failure = failure
        ended.nextAttemptAt = nil
        ended.endedAt = now
        return try save(ended, adding: attempts, at: now, in: database)
    }

    /// What happened to a delivery.
    private static func event(_ kind: ServiceEvent.Kind, of delivery: Delivery, at now: Date) -> ServiceEvent {
        ServiceEvent(
            app: delivery.app, kind: kind, subject: delivery.id, at: now, environment: delivery.environment,
            transactionID: delivery.transactionID, user: delivery.user, caseID: delivery.caseID,
            detail: kind == .deliveryAccepted ? nil : delivery.failure?.reason.rawValue)
    }
}

extension Delivery.State {
    /// The event that tells of a final state.
    fileprivate var eventOfEnd: ServiceEvent.Kind? {
        switch self {
        case .queued, .sending: nil
        case .accepted: .deliveryAccepted
        case .refused: .deliveryRefused
        case .expired: .deliveryExpired
        case .cancelled: .deliveryCancelled
        }
    }
}

extension DeliveryRow {
    /// Gives a delivery that is under way another case or deadline.
    static func move(
        _ id: String, toCase caseID: String?, deadline: Date, in database: SQLDatabase
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE delivery SET caseId = ?, deadline = ?,
                    dueAt = CASE WHEN dueAt IS NULL THEN NULL ELSE min(coalesce(nextAttemptAt, ?), ?) END
                WHERE id = ?
                """
        ).execute(
            arguments: [
                caseID, deadline.milliseconds, deadline.milliseconds, deadline.milliseconds, id,
            ])
    }

    /// Ends the deliveries of a case that are queued, and asks for the end of those that are being sent.
    ///
    /// - Returns: both, as they now are.
    @discardableResult
    static func cancel(
        caseID: String, app: String, because failure: DeliveryFailure, at now: Date, in database: SQLDatabase
    ) throws -> (cancelled: [Delivery], sending: [Delivery]) {
        try cancel(rows(ofCase: caseID, app: app, from: database), because: failure, at: now, in: database)
    }

    /// Ends those that are queued, and asks for the end of those that are being sent; leaves those that have ended.
    static func cancel(
        _ rows: [DeliveryRow], because failure: DeliveryFailure, at now: Date, in database: SQLDatabase
    ) throws -> (cancelled: [Delivery], sending: [Delivery]) {
        var cancelled: [Delivery] = []
        var sending: [Delivery] = []
        for row in rows {
            switch row.delivery.state {
            case .queued:
                cancelled.append(try row.end(as: .cancelled, because: failure, at: now, in: database))
            case .sending:
                try row.askForEnd(because: failure, in: database)
                sending.append(row.delivery)
            case .accepted, .refused, .expired, .cancelled: break
            }
        }
        return (cancelled, sending)
    }

    /// Asks for the end of a delivery that is being sent; the first reason stays.
    ///
    /// - Returns: whether nobody had asked before.
    @discardableResult
    func askForEnd(because failure: DeliveryFailure, in database: SQLDatabase) throws -> Bool {
        guard cancellation == nil else { return false }
        try database.cachedStatement(sql: "UPDATE delivery SET cancellation = ? WHERE id = ?")
            .execute(arguments: [try failure.stored, delivery.id])
        return true
    }
}
