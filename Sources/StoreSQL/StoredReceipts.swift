package import Domain
package import Foundation

extension SQLStore {
    package func keep(_ draft: Receipt) async throws(ServiceError) -> Receipt {
        let content = try ReceiptRow.encoded(draft)
        return try await write("keep a receipt") { database in
            guard let known = try ReceiptRow.fetch(digest: draft.digest, of: draft.content, app: draft.app, database)
            else {
                try ReceiptRow.insert(draft, content, into: database)
                if draft.state == .confirmed { try ReceiptRow.tell(of: draft, .receiptConfirmed, in: database) }
                return draft
            }
            let receipt = ReceiptRules.update(known, with: draft)
            try ReceiptRow.update(receipt, in: database)
            if receipt.raw != known.raw { try ReceiptRow.updateRaw(receipt, in: database) }
            return receipt
        }
    }

    package func conclude(_ conclusion: ReceiptConclusion) async throws(ServiceError) -> Receipt? {
        let maximum = maximumKnownIdentifiers
        return try await write("record what Apple says of a receipt") { database in
            guard
                let known = try ReceiptRow.fetch(
                    id: conclusion.id, of: conclusion.content, app: conclusion.app, database)
            else { return nil }
            var hasLinkConflict = false
            var users = 0
            if case .known(let transactions) = conclusion.outcome {
                try KnownIdentifierRow.remember(
                    transactions.flatMap(\.facts.identifiers), app: known.app, keeping: maximum, in: database)
                try LinkRow.learn(from: transactions, app: known.app, at: conclusion.at, in: database)
                if !ReceiptRules.isContradicted(known.content, by: transactions) {
                    (hasLinkConflict, users) = try ReceiptRow.learn(
                        from: known, transactions, at: conclusion.at, in: database)
                }
            }
            let receipt = ReceiptRules.conclude(
                known, conclusion, hasLinkConflict: hasLinkConflict, users: users)
            try ReceiptRow.update(receipt, in: database)
            if receipt.apple != known.apple { try ReceiptRow.updateApple(receipt, in: database) }
            if let kind = ReceiptRules.event(from: known, to: receipt) {
                try ReceiptRow.tell(of: receipt, kind, in: database)
            }
            return receipt
        }
    }

    package func claimReceipts(
        at now: Date, skipping skipped: Set<AppEnvironment>, limit: (each: Int, all: Int)
    ) async throws(ServiceError) -> [Receipt] {
        let isAnyDue = try await read("look for receipts to ask about") { database in
            try ReceiptQueue.positions(database, at: now, skipping: skipped, limit: (1, 1)).isEmpty == false
        }
        guard isAnyDue else { return [] }
        return try await write("take receipts to ask about") { database in
            try ReceiptQueue.positions(database, at: now, skipping: skipped, limit: limit).compactMap { position in
                try database.cachedStatement(sql: "UPDATE receipt SET nextAttemptAt = ? WHERE position = ?")
                    .execute(arguments: [now.advanced(by: ReceiptRules.lease).milliseconds, position])
                return try ReceiptRow.list(database, "receipt.position = ?", [position]).first?.receipt
            }
        }
    }

    package func nextReceipt() async throws(ServiceError) -> Date? {
        try await read("look when the next receipt is due") { database in
            try ReceiptQueue.places(database).compactMap { place -> Int64? in
                let environment = SQLList.condition("environment", is: place.environment?.rawValue)
                return try Int64.fetchOne(
                    database.cachedStatement(
                        sql: """
                            SELECT min(nextAttemptAt) FROM receipt
                            WHERE app = ? AND \(environment.sql) AND nextAttemptAt IS NOT NULL
                            """),
                    arguments: [place.app] + environment.arguments)
            }.min().map(Date.init(milliseconds:))
        }
    }

    package func receipt(app: String, id: String) async throws(ServiceError) -> Receipt? {
        try await read("read a receipt") { database in
            try ReceiptRow.list(database, "receipt.app = ? AND receipt.id = ?", [app, id]).first?.receipt
        }
    }

    package func receipts(
        app: String, _ query: ReceiptQuery
    ) async throws(ServiceError) -> [(position: Int64, receipt: Receipt)] {
        try await read("read receipts") { database in
            var conditions = Conditions()
            conditions.add("app = ?", app)
            if let user = query.user { conditions.add("user = ?", LinkRow.bytes(user)) }
            if let isFraud = query.isFraud { conditions.add(isFraud ? "state = 'fraud'" : "+state <> 'fraud'") }
            if let since = query.since {
                // They were recorded in the order of their creation, but for clocks that were set.
                conditions.add(
                    """
                    position >= coalesce((SELECT min(position) FROM receipt WHERE app = ? AND createdAt >= ?), 0)
                        AND +createdAt >= ?
                    """, app, since.milliseconds, since.milliseconds)
            }
            if let before = query.before { conditions.add("position < ?", before) }
            let positions = try Int64.fetchAll(
                database,
                sql: "SELECT position FROM receipt WHERE \(conditions.sql) ORDER BY position DESC LIMIT ?",
                arguments: conditions.arguments + [query.limit])
            var found: [(position: Int64, receipt: Receipt)] = []
            var bytes = 0
            for position in positions where bytes < ReceiptRow.maximumPageBytes {
                guard let row = try ReceiptRow.list(database, "receipt.position = ?", [position]).first else {
                    continue
                }
                bytes += row.bytes
                found.append((position, row.receipt))
            }
            return found
        }
    }
}

/// Which receipts Apple is to be asked about, and where.
enum ReceiptQueue {
    /// The apps and environments with any that wait, found by as many steps in the index.
    static func places(_ database: SQLDatabase) throws -> [AppEnvironment] {
        let rows = try SQLRow.fetchAll(
            database.cachedStatement(
                sql: """
                    WITH RECURSIVE place (app) AS (
                        SELECT min(app) FROM receipt WHERE nextAttemptAt IS NOT NULL
                        UNION ALL
                        SELECT (SELECT min(app) FROM receipt WHERE nextAttemptAt IS NOT NULL AND app > place.app)
                        FROM place WHERE place.app IS NOT NULL
                    )
                    \(environments.joined(separator: " UNION ALL "))
                    """))
        return try rows.map {
            AppEnvironment(app: try $0.value("app"), environment: try $0.knownIfPresent("environment"))
        }
    }

    /// Those of the places with receipts of one environment, or of none, each by the index.
    private static let environments = [
        ("NULL", "IS NULL"), ("'Production'", "= 'Production'"), ("'Sandbox'", "= 'Sandbox'"),
    ]
    .map { environment, condition in
        """
        SELECT place.app, \(environment) AS environment FROM place
        WHERE place.app IS NOT NULL AND EXISTS (
            SELECT 1 FROM receipt WHERE receipt.app = place.app
                AND receipt.environment \(condition) AND nextAttemptAt IS NOT NULL)
        """
    }

    /// The positions of those that are due, by app and environment in turn.
    static func positions(
        _ database: SQLDatabase, at now: Date, skipping skipped: Set<AppEnvironment>, limit: (each: Int, all: Int)
    ) throws -> [Int64] {
        var due: [(position: Int64, at: Int64)] = []
        // No wait of ours is longer: what is due later was put off by a clock that lied.
        let horizon = now.advanced(by: ReceiptRules.longestWait * 2)
        for place in try places(database) where !skipped.contains(place) {
            var found: [(position: Int64, at: Int64)] = []
            let environment = SQLList.condition("environment", is: place.environment?.rawValue)
            // Two statements, so that neither passes over what waits.
            for (condition, time) in [("<=", now), (">", horizon)] where found.count < limit.each {
                let rows = try SQLRow.fetchAll(
                    database.cachedStatement(
                        sql: """
                            SELECT position, nextAttemptAt FROM receipt
                            WHERE app = ? AND \(environment.sql) AND nextAttemptAt \(condition) ?
                            ORDER BY nextAttemptAt LIMIT ?
                            """),
                    arguments: [place.app] + environment.arguments
                        + [time.milliseconds, limit.each - found.count])
                found += try rows.map { (try $0.value("position"), try $0.value("nextAttemptAt")) }
            }
            due += found
        }
        return due.sorted { ($0.at, $0.position) < ($1.at, $1.position) }.prefix(limit.all).map(\.position)
    }
}
