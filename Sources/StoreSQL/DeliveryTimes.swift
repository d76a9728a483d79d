package import Domain
package import Foundation

// Times of deliveries that a wrong clock wrote.

extension SQLStore {
    package func hastenDeliveries(
        after latest: Date, at now: Date, limit: Int
    ) async throws(ServiceError) -> Int {
        try await write("make deliveries due that a wrong clock put off") { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE delivery SET dueAt = ?, nextAttemptAt = ? WHERE rowid IN (
                        SELECT rowid FROM delivery WHERE isReady = 0 AND dueAt > ? ORDER BY dueAt DESC LIMIT ?)
                    """)
            try statement.execute(arguments: [now.milliseconds, now.milliseconds, latest.milliseconds, limit])
            return database.changesCount
        }
    }

    package func moveDeliveries(_ deliveries: [DeliveryTimeShift], at now: Date) async throws(ServiceError) {
        try await write("date deliveries anew") { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE delivery SET createdAt = createdAt + iif(caseId IS NULL, ?1, 0),
                        deadline = iif(caseId IS NULL,
                            min(coalesce(requestedDeadline, createdAt + ?1 + ?2), createdAt + ?1 + ?2), deadline),
                        dueAt = iif(isReady = 0, ?3, dueAt),
                        nextAttemptAt = iif(state = 'queued', ?3, nextAttemptAt)
                    WHERE id = ?4 AND app = ?5 AND endedAt IS NULL
                    """)
            let window = Int64(RefundCase.answerWindow * 1000)
            for delivery in deliveries {
                let shift = Int64((delivery.shift / .milliseconds(1)).rounded())
                try statement.execute(
                    arguments: [shift, window, now.milliseconds, delivery.id, delivery.app])
            }
        }
    }
}
