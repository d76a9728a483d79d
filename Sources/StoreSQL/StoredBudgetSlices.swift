package import Domain
import Foundation

extension SQLStore {
    package func exchangeBudgets(
        _ exchange: BudgetExchange
    ) async throws(ServiceError) -> (minute: Int, standings: [BudgetExchange.Standing]) {
        try await write("share budgets out") { [sharing] database in
            let now = try sharing.time(Date(), in: database)
            let copies = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT count(*) FROM copy WHERE livesUntil > ?"),
                arguments: [now.milliseconds])
            let budgets = SharedBudgetRows(exchange, now: now, copies: copies ?? 1, database)
            return (budgets.minute, try exchange.requests.map { try budgets.exchange($0) })
        }
    }

    package func forgetOldBudgets() async throws(ServiceError) {
        try await write("forget what was used of the budgets") { [sharing] database in
            let now = try sharing.time(Date(), in: database)
            let last = Int(now.milliseconds / 60_000) - SharedBudgetRows.lifetime
            try database.execute(sql: "DELETE FROM budgetRecord WHERE minute <= ?", arguments: [last])
            try database.execute(sql: "DELETE FROM budgetBlock WHERE until <= ?", arguments: [now.milliseconds])
            // What nobody has asked about since counts no more either.
            try database.execute(
                sql: "DELETE FROM budgetSlice WHERE heldUntil <= ?",
                arguments: [now.milliseconds - Int64(SharedBudgetRows.lifetime) * 60_000])
        }
    }
}

/// Budgets as they stand in the tables, within one operation.
private struct SharedBudgetRows {
    /// In how many minutes' time, counted from its own minute, a call has left the count.
    static let lifetime = 61

    let minute: Int
    private let copy: String
    private let now: Int64
    private let heldUntil: Int64
    private let copies: Int
    private let database: SQLDatabase

    init(_ exchange: BudgetExchange, now: Date, copies: Int, _ database: SQLDatabase) {
        copy = exchange.copy
        self.now = now.milliseconds
        heldUntil = now.advanced(by: exchange.lease).milliseconds
        minute = Int(now.milliseconds / 60_000)
        self.copies = copies
        self.database = database
    }

    func exchange(_ request: BudgetExchange.Request) throws -> BudgetExchange.Standing {
        for (call, count) in request.used { try add(count, call, at: minute) }
        if let wait = request.blockedFor, wait > .zero { try block(request, for: wait) }
        let others = try takeSlices(of: request)
        let records = try records(of: request)
        var granted: [CallPriority: Int] = [:]
        if let limit = request.limit {
            var taken = others
            for record in records { taken[record.call.priority.sharedKind, default: 0] += record.calls }
            for (kind, count) in request.kept { taken[kind, default: 0] += count }
            for kind in request.wanted.sorted(by: { $0.rawValue < $1.rawValue }) {
                let used = request.used.reduce(0) { $0 + ($1.key.priority.sharedKind == kind ? $1.value : 0) }
                let more = BudgetExchange.grant(
                    kind, of: limit, taken: taken, demand: used + request.waiting[kind, default: 0],
                    kept: request.kept[kind, default: 0], copies: copies)
                taken[kind, default: 0] += more
                if more > 0 { granted[kind] = more }
            }
            for kind in [CallPriority.interactive, .deadlineBound] {
                try keep(request.kept[kind, default: 0] + granted[kind, default: 0], kind, of: request)
            }
        }
        return BudgetExchange.Standing(records: records, granted: granted, blockedFor: try blockedFor(request))
    }

    // MARK: Calls

    private func add(_ count: Int, _ call: BudgetedCall, at minute: Int) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO budgetRecord (minute, app, endpoint, environment, caller, priority, calls)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (minute, app, endpoint, environment, caller, priority)
                DO UPDATE SET calls = budgetRecord.calls + excluded.calls
                """
        ).execute(
            arguments: [
                minute, call.app, call.endpoint, call.environment.rawValue, call.caller, call.priority.rawValue, count,
            ])
    }

    private func records(of request: BudgetExchange.Request) throws -> [BudgetRecord] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT minute, app, endpoint, environment, caller, priority, calls FROM budgetRecord
                WHERE app = ? AND endpoint = ? AND environment = ? AND minute > ?
                """)
        return try SQLRow.fetchAll(
            statement,
            arguments: [request.app, request.endpoint, request.environment.rawValue, minute - Self.lifetime]
        ).map(BudgetRecord.init(row:))
    }

    // MARK: Slices

    /// Counts what copies had that have not come back, and takes this copy's away, which is given anew.
    ///
    /// - Returns: what the others have.
    private func takeSlices(of request: BudgetExchange.Request) throws -> [CallPriority: Int] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT priority, copy, calls, heldUntil FROM budgetSlice
                WHERE app = ? AND endpoint = ? AND environment = ?
                """)
        var others: [CallPriority: Int] = [:]
        let budget: SQLArguments = [request.app, request.endpoint, request.environment.rawValue]
        for row in try SQLRow.fetchAll(statement, arguments: budget) {
            let (kind, holder): (CallPriority, String) = (try row.known("priority"), try row.value("copy"))
            let (calls, end): (Int, Int64) = (try row.value("calls"), try row.value("heldUntil"))
            if holder != copy, end > now {
                others[kind, default: 0] += calls
                continue
            }
            if holder != copy {
                // It may have made them all before its end, and told nobody.
                let lost = BudgetedCall(
                    app: request.app, endpoint: request.endpoint, environment: request.environment,
                    caller: BudgetedCall.lost, priority: kind)
                try add(calls, lost, at: Int(end / 60_000))
            }
            try database.cachedStatement(
                sql: """
                    DELETE FROM budgetSlice
                    WHERE app = ? AND endpoint = ? AND environment = ? AND priority = ? AND copy = ?
                    """
            ).execute(arguments: budget + [kind.rawValue, holder])
        }
        return others
    }

    private func keep(_ calls: Int, _ kind: CallPriority, of request: BudgetExchange.Request) throws {
        guard calls > 0 else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO budgetSlice (app, endpoint, environment, priority, copy, calls, heldUntil)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                request.app, request.endpoint, request.environment.rawValue, kind.rawValue, copy, calls, heldUntil,
            ])
    }

    // MARK: Apple's wishes to wait

    private func block(_ request: BudgetExchange.Request, for wait: Duration) throws {
        let until = Date(milliseconds: now).advanced(by: wait).milliseconds
        try database.cachedStatement(
            sql:
                "INSERT INTO budgetBlock (until, app, endpoint, environment) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [until, request.app, request.endpoint, request.environment.rawValue])
    }

    private func blockedFor(_ request: BudgetExchange.Request) throws -> Duration? {
        let statement = try database.cachedStatement(
            sql: "SELECT max(until) FROM budgetBlock WHERE app = ? AND endpoint = ? AND environment = ? AND until > ?")
        let until = try Int64.fetchOne(
            statement, arguments: [request.app, request.endpoint, request.environment.rawValue, now])
        return until.map { .milliseconds($0 - now) }
    }
}
