import Domain
import Foundation

/// What is known of a purchase, as its cases, deliveries and notifications stand in their tables: loaded for `FactRules`, and
/// changed as it says.
enum PurchaseRow {
    /// The columns of a purchase, in the order in which they are read.
    static let columns = [
        "environment", "transactionId", "originalTransactionId", "webOrderLineItemId", "appTransactionId",
        "appAccountToken", "productId", "productType", "purchaseDate", "expiresDate", "isFamilyShared",
        "isAdvancedCommerce",
    ]

    /// Everything that `FactRules` looks at.
    ///
    /// `presence`: what there is about the purchase.
    static func situation(
        of purchase: PurchaseFacts, app: String, _ presence: FactPresence = .all, from database: SQLDatabase
    ) throws -> FactRules.Situation {
        var situation = FactRules.Situation()
        if presence.contains(.cases) {
            situation.cases.cases = try CaseRow.list(
                database,
                sql: """
                    SELECT * FROM refundCase
                    WHERE app = ? AND originalTransactionId = ? AND \(samePurchase) ORDER BY deadline, id
                    """,
                arguments: [app, purchase.originalTransactionID] + samePurchase(as: purchase)
            ).filter { $0.purchase.isSamePurchase(as: purchase) }
        }
        if presence.contains(.outcomes) {
            situation.cases.outcomes = try CaseRow.outcomes(of: purchase, app: app, from: database)
        }
        var transactions = Set(situation.cases.cases.map(\.transactionID) + [purchase.transactionID])
        if presence.contains(.deliveries) {
            situation.deliveries = try deliveries(of: purchase, app: app, from: database)
        } else {
            transactions.remove(purchase.transactionID)
        }
        for transaction in transactions {
            situation.deliveries += try unresolvedDeliveries(
                ofTransaction: transaction, purchase.environment, app: app, from: database)
        }
        situation.deliveries.sort { $0.id < $1.id }
        return situation
    }

    /// Everything that is known of an answer's purchase; of one of which nothing is known, the deliveries of its transaction.
    static func situation(of known: KnownSubject, from database: SQLDatabase) throws -> FactRules.Situation {
        let subject = known.subject
        if let purchase = subject.purchase {
            return try situation(of: purchase, app: subject.app, known.presence, from: database)
        }
        var situation = FactRules.Situation()
        guard known.presence.contains(.deliveries) else { return situation }
        situation.deliveries = try DeliveryRow.list(
            database,
            sql:
                "SELECT \(DeliveryRow.columns) FROM delivery WHERE app = ? AND transactionId = ? AND \(lasting) ORDER BY id",
            arguments: [subject.app, subject.transactionID]
        ).map(\.delivery).filter {
            $0.environment == nil || subject.environment == nil || $0.environment == subject.environment
        }
        return situation
    }

    /// The same with the purchase, as far as it is known here.
    static func resolve(_ subject: ConsentSubject, from database: SQLDatabase) throws -> ConsentSubject {
        guard subject.purchase == nil else { return subject }
        return try resolve(subject, FactPresence.of(subject, in: database), from: database)
    }

    /// The same with the purchase, as far as it is known here; `presence`: what there is about its transaction.
    static func resolve(
        _ subject: ConsentSubject, _ presence: FactPresence, from database: SQLDatabase
    ) throws -> ConsentSubject {
        guard subject.purchase == nil, let purchase = try known(subject, presence, from: database) else {
            return subject
        }
        return subject.with(purchase)
    }

    /// What Apple has told us of an answer's transaction.
    private static func known(
        _ subject: ConsentSubject, _ presence: FactPresence, from database: SQLDatabase
    ) throws -> PurchaseFacts? {
        let tables: [(FactPresence, String)] = [
            (.cases, "refundCase"), (.notifications, "notification"), (.deliveries, "delivery"),
        ]
        for (kind, table) in tables where presence.contains(kind) {
            let row = try SQLRow.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT * FROM \(table)
                        WHERE app = ? AND transactionId = ? AND originalTransactionId IS NOT NULL
                            AND environment = coalesce(?, environment) LIMIT 1
                        """),
                arguments: [subject.app, subject.transactionID, subject.environment?.rawValue])
            if let row { return try row.purchase() }
        }
        return nil
    }

    /// Deliveries that are under way or that Apple has accepted.
    private static func deliveries(
        of purchase: PurchaseFacts, app: String, from database: SQLDatabase
    ) throws -> [Delivery] {
        try DeliveryRow.list(
            database,
            sql: """
                SELECT \(DeliveryRow.columns) FROM delivery
                WHERE app = ? AND originalTransactionId = ? AND \(samePurchase) AND \(lasting)
                """,
            arguments: [app, purchase.originalTransactionID] + samePurchase(as: purchase)
        ).map(\.delivery).filter { $0.purchase?.isSamePurchase(as: purchase) ?? false }
    }

    /// The same of those whose purchase is not known yet.
    private static func unresolvedDeliveries(
        ofTransaction transaction: String, _ environment: AppStoreEnvironment, app: String, from database: SQLDatabase
    ) throws -> [Delivery] {
        try DeliveryRow.list(
            database,
            sql: """
                SELECT \(DeliveryRow.columns) FROM delivery
                WHERE app = ? AND transactionId = ? AND originalTransactionId IS NULL AND \(lasting)
                """,
            arguments: [app, transaction]
        ).map(\.delivery).filter { $0.environment == nil || $0.environment == environment }
    }

    // A subscription has as many purchases under one original transaction as it had periods: the others are not even read.
    // What is the same purchase decides `PurchaseFacts`; the signs keep indexes out that know less.
    static let samePurchase = "+environment = ? AND (+webOrderLineItemId IS ? OR +transactionId = ?)"

    /// The arguments of `samePurchase`.
    static func samePurchase(as purchase: PurchaseFacts) -> SQLArguments {
        [purchase.environment.rawValue, purchase.webOrderLineItemID, purchase.transactionID]
    }

    private static let lasting = "(+endedAt IS NULL OR +state = 'accepted')"

    /// Judges a purchase anew, after a notice or because more of it is known, and writes what changes.
    ///
    /// `presence`: what there was before the notice.
    ///
    /// - Returns: what the notice did to cases, and the deliveries that ended.
    static func settle(
        _ purchase: PurchaseFacts, app: String, _ notice: CaseRules.Notice? = nil, owner: UserID? = nil,
        newCaseID: String = "", _ presence: FactPresence = .all, at now: Date, in database: SQLDatabase
    ) throws -> AppliedNotification {
        var situation = try situation(of: purchase, app: app, presence, from: database)
        situation.cases.owner = owner
        let changes = FactRules.changes(situation, notice, newID: newCaseID)
        try CaseRow.carryOut(changes.notice, situation.cases.cases, at: now, in: database)
        for refundCase in changes.answered {
            try CaseRow.markAnswered(app: app, id: refundCase.id, at: now, in: database)
        }
        var applied = AppliedNotification(change: changes.notice)
        for change in changes.deliveries {
            try DeliveryRow.move(change.id, toCase: change.caseID, deadline: change.deadline, in: database)
            guard let end = change.end, let row = try DeliveryRow.fetch(app: app, id: change.id, from: database) else {
                continue
            }
            applied.ended.add(try DeliveryRow.cancel([row], because: end, at: now, in: database))
        }
        // Last: by now each answer is at its case.
        try RefundDecisionRow.count(changes.notice, situation.cases.cases, in: database)
        return applied
    }
}

extension EndedDeliveries {
    mutating func add(_ other: (cancelled: [Delivery], sending: [Delivery])) {
        add(EndedDeliveries(cancelled: other.cancelled, sending: other.sending))
    }

    mutating func add(_ other: EndedDeliveries) {
        self = EndedDeliveries(
            cancelled: cancelled + other.cancelled, sending: sending + other.sending,
            rescissions: rescissions + other.rescissions)
    }
}

// MARK: Notifications

/// Applies notifications within a transaction.
struct NotificationEffects {
    let tombstones: Tombstones
    let maximumKnownIdentifiers: Int

    /// Applies a notification, unless that is done.
    func apply(
        _ stored: StoredNotification, newCaseID: String, at now: Date, in database: SQLDatabase
    ) throws -> AppliedNotification {
        let (app, notification) = (stored.app, stored.notification)
        guard try NotificationRow.isUnprocessed(app: app, uuid: notification.notificationUUID, in: database) else {
            return AppliedNotification()
        }
        var applied = AppliedNotification()
        var owner: UserID?
        if let transaction = notification.transaction {
            let subject = ConsentSubject(
                app: app, user: nil, transactionID: transaction.transactionID, environment: transaction.environment,
                purchase: transaction.facts)
            var presence = try FactPresence.of(subject, in: database)
            try PurchaseTokenRow.recordSigned(transaction, app: app, &presence, in: database)
            let purchase = try PurchaseTokenRow.effective(transaction.facts, app: app, presence, in: database)
            try KnownIdentifierRow.remember(
                purchase.identifiers, app: app, keeping: maximumKnownIdentifiers, in: database)
            try LinkRow.learn(from: purchase, app: app, at: now, in: database)
            owner = try OwnerQuery.owner(of: purchase, app: app, in: database)
            // Before the notice is judged, so that it counts among the outcomes from now on.
            if var notice = CaseRules.Notice(stored) {
                notice.purchase = purchase
                applied = try PurchaseRow.settle(
                    purchase, app: app, notice, owner: owner, newCaseID: newCaseID, presence, at: now, in: database)
            }
        }
        if notification.isRescission { applied.ended.add(try rescind(stored, at: now, in: database)) }
        try NotificationRow.markProcessed(
            app: app, uuid: notification.notificationUUID, user: owner, at: now, in: database)
        return applied
    }

    /// Applies what has been told of a purchase and its Apple Account and is still to be applied, so that who decides on it
    /// decides by all that is known.
    func applyPending(for subject: ConsentSubject, at now: Date, in database: SQLDatabase) throws -> EndedDeliveries {
        var ended = EndedDeliveries.none
        for stored in try Self.pending(for: subject, from: database) {
            let applied = try apply(
                stored, newCaseID: UUIDVersion7.make(at: now), at: now, in: database)
            ended.add(applied.ended)
        }
        return ended
    }

    /// What is still to be applied of a purchase and its Apple Account, in the order in which it came.
    static func pending(for subject: ConsentSubject, from database: SQLDatabase) throws -> [StoredNotification] {
        var positions = try Int64.fetchSet(
            database.cachedStatement(
                sql: "SELECT position FROM notification WHERE app = ? AND transactionId = ? AND +processedAt IS NULL"),
            arguments: [subject.app, subject.transactionID])
        if let purchase = subject.purchase {
            positions.formUnion(
                try Int64.fetchSet(
                    database.cachedStatement(
                        sql: """
                            SELECT position FROM notification
                            WHERE app = ? AND originalTransactionId = ? AND +processedAt IS NULL
                            """),
                    arguments: [subject.app, purchase.originalTransactionID]))
        }
        if let account = subject.purchase?.appTransactionID {
            positions.formUnion(
                try Int64.fetchSet(
                    database.cachedStatement(
                        sql: """
                            SELECT position FROM notification
                            WHERE processedAt IS NULL AND type = 'RESCIND_CONSENT' AND app = ? AND appTransactionId = ?
                            """),
                    arguments: [subject.app, account]))
        }
        return try positions.sorted().flatMap { position in
            try NotificationRow.list(
                database, sql: "\(NotificationRow.columns) WHERE position = ?", arguments: [position]
            ).map(\.notification)
        }
    }

    /// Records that a guardian took back consent for an Apple Account, and ends the deliveries that this stands against.
    private func rescind(
        _ stored: StoredNotification, at now: Date, in database: SQLDatabase
    ) throws -> EndedDeliveries {
        let (app, notification) = (stored.app, stored.notification)
        guard let account = notification.appTransactionID else { return .none }
        let environment = notification.environment
        try RescissionRow.insert(
            account, app: app, environment, signedAt: notification.signedAt ?? stored.receivedAt, at: now,
            tombstones, in: database)
        let users = try LinkRow.users(of: account, app: app, environment, from: database)
        for user in users.isEmpty ? [nil] : users.map(Optional.some) {
            try EventRow.append(
                ServiceEvent(
                    app: app, kind: .guardianConsentRescinded, subject: notification.notificationUUID, at: now,
                    environment: environment, user: user, notificationType: notification.notificationType),
                to: database)
        }
        let rows = try DeliveryRow.list(
            database,
            sql:
                "SELECT \(DeliveryRow.columns) FROM delivery WHERE app = ? AND appTransactionId = ? AND +endedAt IS NULL ORDER BY id",
            arguments: [app, account])
        var ended = EndedDeliveries(
            cancelled: [], sending: [],
            rescissions: [
                EndedDeliveries.Rescission(
                    app: app, notificationUUID: notification.notificationUUID, environment: environment)
            ])
        for row in rows where row.delivery.environment == environment {
            let subject = ConsentSubject(row.delivery)
            guard let objection = try ConsentQuery.objection(to: subject, tombstones, in: database) else { continue }
            ended.add(
                try DeliveryRow.cancel([row], because: DeliveryFailure(objection.error), at: now, in: database))
        }
        return ended
    }
}
