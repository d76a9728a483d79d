package import Domain
package import Foundation

extension SQLStore {
    package func refundCase(app: String, id: String) async throws(ServiceError) -> RefundCase? {
        try await read("read a case") { try CaseRow.fetch(app: app, id: id, from: $0) }
    }

    package func refundCases(app: String, _ query: CaseQuery) async throws(ServiceError) -> [RefundCase] {
        try await read("list cases") { try CaseRow.page($0, app: app, query) }
    }

    package func latestCase(
        app: String, transactionID: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> RefundCase? {
        try await glance("read a transaction's case") { database in
            try CaseRow.ofTransaction(app: app, id: transactionID, environment, from: database)
                .max { ($0.requestedAt, $0.id) < ($1.requestedAt, $1.id) }
        }
    }

    package func expireCases(at now: Date, limit: Int) async throws(ServiceError) -> [RefundCase] {
        try await write("expire cases") { database in
            let due = try CaseRow.list(
                database,
                sql: "SELECT * FROM refundCase WHERE state = 'open' AND deadline <= ? ORDER BY deadline LIMIT ?",
                arguments: [now.milliseconds, limit])
            return try due.compactMap { refundCase in
                try CaseRow.change(
                    app: refundCase.app, id: refundCase.id, to: .expired, .caseExpired, at: now, in: database)
            }
        }
    }

    package func caseBacklog() async throws(ServiceError) -> [CaseBacklog] {
        try await read("count the open cases") { database in
            // The groups are in the order of the partial index, which holds open cases alone.
            try SQLRow.fetchAll(
                database,
                sql: """
                    SELECT app, environment, count(*) AS open, min(deadline) AS nearestDeadline FROM refundCase
                    WHERE state = 'open' AND app > '' GROUP BY app, environment
                    """
            ).map { row in
                CaseBacklog(
                    app: try row.value("app"), environment: try row.known("environment"),
                    open: try row.value("open"), nearestDeadline: try row.date("nearestDeadline"))
            }
        }
    }
}

extension SQLStore {
    package func decline(
        app: String, id: String, _ decline: RefundCase.Decline
    ) async throws(ServiceError) -> (result: CaseDeclineResult, ended: EndedDeliveries)? {
        try await write("decline a case") { [effects] database in
            guard let found = try CaseRow.fetch(app: app, id: id, from: database) else { return nil }
            var ended = try effects.applyPending(for: ConsentSubject(found), at: decline.at, in: database)
            guard var known = try CaseRow.fetch(app: app, id: id, from: database) else { return nil }
            switch known.state {
            case .answered, .expired, .decided: return (.closed(known), ended)
            case .declined: break
            case .open:
                known.state = .declined
                known.decline = decline
                try CaseRow.save(known, at: decline.at, in: database)
                try EventRow.append(CaseRow.event(.caseDeclined, of: known, at: decline.at), to: database)
            }
            // Again for a declined case, since what is being sent may not have ended yet.
            ended.add(try DeliveryRow.cancel(caseID: id, app: app, because: .declined, at: decline.at, in: database))
            return (.declined(known), ended)
        }
    }

    package func unansweredCases(
        app: String, _ query: CaseQuery, deadlineBefore: Date
    ) async throws(ServiceError) -> [RefundCase] {
        try await read("look for cases without an answer") { database in
            var conditions = Conditions()
            conditions.add("app = ?", app)
            if let environment = query.environment { conditions.add("environment = ?", environment.rawValue) }
            conditions.add("deadline < ?", deadlineBefore.milliseconds)
            if let after = query.after {
                let comparison = query.isLatestFirst ? "<" : ">"
                conditions.add("(deadline, id) \(comparison) (?, ?)", after.deadline.milliseconds, after.id)
            }
            return try CaseRow.list(
                database,
                sql: """
                    SELECT * FROM refundCase
                    WHERE \(conditions.sql) AND state = 'open'
                        AND NOT EXISTS (
                            SELECT 1 FROM delivery
                            WHERE delivery.caseId = refundCase.id AND delivery.state IN ('queued', 'sending'))
                    ORDER BY \(query.isLatestFirst ? "deadline DESC, id DESC" : "deadline, id") LIMIT ?
                    """,
                arguments: conditions.arguments + [query.limit])
        }
    }

    package func refunds(
        of user: UserID, app: String, in environment: AppStoreEnvironment, besides transactionID: String
    ) async throws(ServiceError) -> Int {
        try await read("count a user's refunds") { database in
            let spellings = try OwnerQuery.spellings(of: user, app: app, in: database).map(LinkRow.bytes)
            let users = SQLList.placeholders(spellings.count)
            let arguments =
                SQLArguments([app]) + SQLArguments(spellings)
                + SQLArguments([environment.rawValue, transactionID])
            let ofCases = try String.fetchSet(
                database,
                sql: """
                    SELECT transactionId FROM refundCase
                    WHERE app = ? AND owner IN (\(users)) AND +environment = ? AND +transactionId <> ?
                        AND outcome = 'refunded'
                    """,
                arguments: arguments)
            // Those of which Apple did not ask before. A reversal is told of the same transaction later.
            let told = try String.fetchSet(
                database,
                sql: """
                    SELECT transactionId FROM notification AS refund
                    WHERE app = ? AND user IN (\(users)) AND +environment = ? AND +transactionId <> ?
                        AND +type = 'REFUND' AND NOT EXISTS (
                            SELECT 1 FROM notification AS reversal
                            WHERE reversal.app = refund.app AND reversal.transactionId = refund.transactionId
                                AND +reversal.type = 'REFUND_REVERSED' AND +reversal.environment = refund.environment
                                AND +reversal.signedDate >= refund.signedDate)
                    """,
                arguments: arguments)
            return ofCases.union(told).count
        }
    }
}

/// A refund case as it stands in its tables.
struct CaseRow: Sendable {
    let refundCase: RefundCase

    /// Reads a row with all columns, and the requests that belong to it.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow, from database: SQLDatabase) throws {
        let id: String = try row.value("id")
        refundCase = RefundCase(
            id: id, app: try row.value("app"), environment: try row.known("environment"),
            transactionID: try row.value("transactionId"), purchase: try row.purchase(),
            terms: PurchaseTerms(
                price: try row.value("price"), currency: try row.value("currency"),
                storefront: try row.value("storefront")),
            owner: try row.userIfPresent("owner"), state: try row.known("state"),
            reason: try row.value("reason"), requestedAt: try row.date("requestedAt"),
            openedAt: try row.date("openedAt"), deadline: try row.date("deadline"),
            requests: try Self.requests(of: id, from: database), decline: try Self.decline(row),
            outcome: try row.knownIfPresent("outcome"), decidedAt: try row.dateIfPresent("decidedAt"),
            revocationPercentage: try row.value("revocationPercentage"))
    }

    /// A case of an app.
    static func fetch(app: String, id: String, from database: SQLDatabase) throws -> RefundCase? {
        try list(database, sql: "SELECT * FROM refundCase WHERE id = ? AND app = ?", arguments: [id, app]).first
    }

    /// Every case of a transaction, in one environment or in both.
    static func ofTransaction(
        app: String, id: String, _ environment: AppStoreEnvironment?, from database: SQLDatabase
    ) throws -> [RefundCase] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM refundCase WHERE app = ? AND transactionId = ? ORDER BY deadline, id")
        return try SQLRow.fetchAll(statement, arguments: [app, id])
            .map { try CaseRow($0, from: database).refundCase }
            .filter { environment == nil || $0.environment == environment }
    }

    /// The cases that a query for all columns gives.
    static func list(_ database: SQLDatabase, sql: String, arguments: SQLArguments) throws -> [RefundCase] {
        try SQLRow.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map {
            try CaseRow($0, from: database).refundCase
        }
    }

    private static func requests(of id: String, from database: SQLDatabase) throws -> [RefundCase.Request] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM caseRequest WHERE caseId = ? ORDER BY signedAt, notificationUuid")
        return try SQLRow.fetchAll(statement, arguments: [id]).map { row in
            RefundCase.Request(
                notificationUUID: try row.value("notificationUuid"), signedAt: try row.date("signedAt"),
                receivedAt: try row.date("receivedAt"), reason: try row.value("reason"))
        }
    }

    /// The decision not to answer, read in the order `declineCaller`, `declineNote`, `declineAt`.
    static func decline(_ row: some ColumnValues) throws -> RefundCase.Decline? {
        let caller = try row.value("declineCaller", as: String?.self)
        let note = try row.value("declineNote", as: Data?.self).map { String(decoding: $0, as: UTF8.self) }
        let at = try row.dateIfPresent("declineAt")
        return caller.flatMap { caller in at.map { RefundCase.Decline(caller: caller, note: note, at: $0) } }
    }

    /// A page of an app's cases, soonest deadline first.
    static func page(_ database: SQLDatabase, app: String, _ query: CaseQuery) throws -> [RefundCase] {
        var conditions = Conditions()
        conditions.add("app = ?", app)
        let states = query.states.map(\.rawValue).sorted()
        // One state has an index in the order of the list; several are picked from all.
        if states.count == 1 { conditions.add("state = ?", states[0]) }
        if states.count > 1 {
            conditions.add("+state IN (\(SQLList.placeholders(states.count)))", states)
        }
        if let owner = query.owner {
            let spellings = try OwnerQuery.spellings(of: owner, app: app, in: database).map(LinkRow.bytes)
            // One has an index in the order of the list; the few cases of several are sorted.
            if spellings.count == 1 {
                conditions.add("owner = ?", spellings[0])
            } else {
                conditions.add("owner IN (\(SQLList.placeholders(spellings.count)))", spellings)
            }
        }
        if let transaction = query.transactionID { conditions.add("transactionId = ?", transaction) }
        if let environment = query.environment { conditions.add("+environment = ?", environment.rawValue) }
        if let after = query.after {
            let comparison = query.isLatestFirst ? "<" : ">"
            conditions.add("(deadline, id) \(comparison) (?, ?)", after.deadline.milliseconds, after.id)
        }
        let order = query.isLatestFirst ? "deadline DESC, id DESC" : "deadline, id"
        return try list(
            database, sql: "SELECT * FROM refundCase WHERE \(conditions.sql) ORDER BY \(order) LIMIT ?",
            arguments: conditions.arguments + [query.limit])
    }
}
