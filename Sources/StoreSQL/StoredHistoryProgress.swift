package import Domain
import Foundation

// How far the search for missed notifications has got.

extension SQLStore {
    package func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress? {
        try await read("read how far the search for missed notifications got") { database in
            let row = try SQLRow.fetchOne(
                database, sql: "SELECT * FROM historyProgress WHERE app = ? AND environment = ?",
                arguments: [app, environment.rawValue])
            return try row.map { row in
                HistoryProgress(
                    completeUntil: try row.dateIfPresent("completeUntil"),
                    unkeptSince: try row.dateIfPresent("unkeptSince"), search: try Self.search(row))
            }
        }
    }

    package func saveHistoryProgress(
        _ progress: HistoryProgress, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) {
        try await write("keep how far the search for missed notifications got") { database in
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
        }
    }

    private static func search(_ row: SQLRow) throws -> HistoryProgress.Search? {
        guard let pass: HistoryProgress.Pass = try row.knownIfPresent("pass") else { return nil }
        return HistoryProgress.Search(
            pass: pass, start: try row.date("windowStart"), end: try row.date("windowEnd"),
            paginationToken: try row.value("paginationToken"))
    }
}
