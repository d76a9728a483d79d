package import Domain
import Foundation

// How far the search for missed notifications has got.

extension SQLStore {
    package func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress? {
        try await read("read how far the search for missed notifications got") { database in
            try HistoryProgressRow.fetch(app: app, environment, from: database)
        }
    }

    package func saveHistoryProgress(
        _ progress: HistoryProgress, replacing known: HistoryProgress?, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> Bool {
        try await write("keep how far the search for missed notifications got") { [isShared] database in
            if isShared {
                guard try HistoryProgressRow.fetch(app: app, environment, from: database) == known else { return false }
            }
            try database.execute(
                sql: """
                    INSERT INTO historyProgress
                        (app, environment, completeUntil, unkeptSince, pass, windowStart, windowEnd, paginationToken)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (app, environment) DO UPDATE SET
                        completeUntil = excluded.completeUntil, unkeptSince = excluded.unkeptSince,
                        pass = excluded.pass, windowStart = excluded.windowStart,
                        windowEnd = excluded.windowEnd, paginationToken = excluded.paginationToken
                    """,
                arguments: [
                    app, environment.rawValue, progress.completeUntil?.milliseconds,
                    progress.unkeptSince?.milliseconds, progress.search?.pass.rawValue,
                    progress.search?.start.milliseconds, progress.search?.end.milliseconds,
                    progress.search?.paginationToken,
                ])
            return true
        }
    }
}

/// How far the search has got for an app and environment, as it stands in its table.
private enum HistoryProgressRow {
    static func fetch(
        app: String, _ environment: AppStoreEnvironment, from database: SQLDatabase
    ) throws -> HistoryProgress? {
        try SQLRow.fetchOne(
            database, sql: "SELECT * FROM historyProgress WHERE app = ? AND environment = ?",
            arguments: [app, environment.rawValue]
        ).map { row in
            HistoryProgress(
                completeUntil: try row.dateIfPresent("completeUntil"),
                unkeptSince: try row.dateIfPresent("unkeptSince"), search: try search(row))
        }
    }

    private static func search(_ row: SQLRow) throws -> HistoryProgress.Search? {
        guard let pass: HistoryProgress.Pass = try row.knownIfPresent("pass") else { return nil }
        return HistoryProgress.Search(
            pass: pass, start: try row.date("windowStart"), end: try row.date("windowEnd"),
            paginationToken: try row.value("paginationToken"))
    }
}
