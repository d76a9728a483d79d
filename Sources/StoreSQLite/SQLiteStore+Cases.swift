package import Domain
package import Foundation
import GRDB

extension SQLiteStore {
    package func refundCase(app: String, id: String) async throws(ServiceError) -> RefundCase? {
        try await read("read a case") { try CaseRow.fetch(app: app, id: id, from: $0) }
    }

    package func refundCases(app: String, _ query: CaseQuery) async throws(ServiceError) -> [RefundCase] {
        try await read("list cases") { try CaseRow.page($0, app: app, query) }
    }

    package func latestCase(
        app: String, transactionID: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> RefundCase? {
        try await read("read a transaction's case") { database in
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
            try Row.fetchAll(
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

extension CaseRow {
    /// A page of an app's cases, soonest deadline first.
    static func page(_ database: Database, app: String, _ query: CaseQuery) throws -> [RefundCase] {
        var conditions = Conditions()
        conditions.add("app = ?", app)
        let states = query.states.map(\.rawValue).sorted()
        // One state has an index in the order of the list; several are picked from all.
        if states.count == 1 { conditions.add("state = ?", states[0]) }
        if states.count > 1 {
            conditions.add("+state IN (\(SQLiteStore.placeholders(states.count)))", states)
        }
        if let owner = query.owner { conditions.add("owner = ?", LinkRow.bytes(owner)) }
        if let transaction = query.transactionID { conditions.add("transactionId = ?", transaction) }
        if let environment = query.environment { conditions.add("+environment = ?", environment.rawValue) }
        if let after = query.after {
            conditions.add("(deadline, id) > (?, ?)", after.deadline.milliseconds, after.id)
        }
        return try list(
            database, sql: "SELECT * FROM refundCase WHERE \(conditions.sql) ORDER BY deadline, id LIMIT ?",
            arguments: conditions.arguments + [query.limit])
    }
}
