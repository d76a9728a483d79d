package import Domain
package import Foundation

// What the sender of callbacks asks, and what it keeps.

extension SQLStore {
    package func activeCallbacks() async throws(ServiceError) -> [(id: String, app: String)] {
        try await read("list the callbacks that send") { database in
            try CallbackRow.list(app: nil, from: database).filter { $0.state == .active }.map { ($0.id, $0.app) }
        }
    }

    package func callbackWork(
        id: String, behind place: CallbackPlace?, at now: Date
    ) async throws(ServiceError) -> CallbackWork? {
        let isClosed = tombstones.hold != nil
        return try await read("read what a callback has to send") { database in
            guard let callback = try CallbackRow.fetch(id: id, from: database), callback.state == .active else {
                return nil
            }
            let isHeld = try isClosed || SendingHoldRow.fetch(from: database) != nil
            let waiting = try CallbackEntryRow.list(of: callback, from: database)
            let bounds = try EventRow.bounds(database)
            let looked = place.flatMap { $0.revision == callback.revision ? $0.position : nil } ?? 0
            let known = max(callback.position, looked)
            let start = max(known, bounds.forgotten)
            let takesNew = !isHeld && waiting.count < CallbackWork.maximumWaiting
            let news =
                takesNew
                ? try CallbackNews(of: callback, after: start, latest: bounds.latest, in: database)
                : CallbackNews(nothingUntil: start)
            return CallbackWork(
                callback: callback, secrets: try CallbackSecretRow.list(of: callback, at: now, from: database),
                waiting: waiting, events: news.events, scanned: news.scanned, hasMore: news.hasMore,
                hasMissedEvents: known < bounds.forgotten, epoch: bounds.epoch, isHeld: isHeld)
        }
    }

    package func oldestPendingEvent(callback id: String) async throws(ServiceError) -> Date? {
        try await read("find the oldest event that a callback was not sent") { database in
            guard let callback = try CallbackRow.fetch(id: id, from: database) else { return nil }
            if let entry = try CallbackEntryRow.list(of: callback, from: database).first {
                // What was erased meanwhile waits only to be forgotten.
                return entry.event?.event.at ?? entry.firstFailedAt
            }
            let bounds = try EventRow.bounds(database)
            return try CallbackNews(
                of: callback, after: max(callback.position, bounds.forgotten), latest: bounds.latest, in: database
            ).events.first?.event.at
        }
    }

    package func callbackSecrets(
        of callback: Callback, at now: Date
    ) async throws(ServiceError) -> [SealedSecretRecord] {
        try await read("read a callback's secrets") { try CallbackSecretRow.list(of: callback, at: now, from: $0) }
    }

    package func signedNotification(app: String, uuid: String) async throws(ServiceError) -> String? {
        try await read("read a signed notification") { database in
            let signed = try String.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT signed FROM notification JOIN notificationContent USING (position)
                        WHERE app = ? AND uuid = ?
                        """), arguments: [app, uuid])
            // Erasing a user empties it.
            return signed.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    package func latestNotification(
        app: String, _ filter: CallbackFilter
    ) async throws(ServiceError) -> String? {
        try await read("find the latest notification for a callback") { database in
            try CallbackEventRow.list(
                database, "WHERE event.app = ? ORDER BY event.position DESC LIMIT ?", [app, CallbackWork.scan]
            ).first { filter.admits($0, format: .apple) }?.event.subject
        }
    }

    package func concludeCallbackRound(_ round: CallbackRound) async throws(ServiceError) -> Bool {
        try await write("keep what became of a callback's round") { database in
            guard var callback = try CallbackRow.fetch(id: round.id, from: database),
                callback.revision == round.revision
            else { return false }
            callback.position = max(callback.position, round.position)
            callback.hasMissedEvents = callback.hasMissedEvents || round.hasMissedEvents
            if let reason = round.pause {
                callback.state = .paused
                callback.pauseReason = reason
                callback.updatedAt = round.at
                callback.revision += 1
            }
            if let until = callback.previousSecretUntil, until <= round.at {
                callback.previousSecretUntil = nil
                try SealedSecretRow.delete(
                    .callback, Callback.secretName(callback.id, callback.secretNumber - 1), from: database)
            }
            try CallbackRow.save(callback, in: database)
            for position in round.done { try CallbackEntryRow.remove(position, of: round.id, from: database) }
            for entry in round.waiting { try CallbackEntryRow.save(entry, of: round.id, in: database) }
            try CallbackAttemptRow.append(round.attempts, of: round.id, to: database)
            return true
        }
    }
}

/// New events of a callback: those behind its place that its filter admits.
private struct CallbackNews {
    private(set) var events: [CallbackEvent] = []
    private(set) var scanned: Int64
    private(set) var hasMore = false

    init(nothingUntil position: Int64) { scanned = position }

    init(of callback: Callback, after start: Int64, latest: Int64, in database: SQLDatabase) throws {
        let found = try CallbackEventRow.list(
            database, "WHERE event.app = ? AND event.position > ? ORDER BY event.position LIMIT ?",
            [callback.app, start, CallbackWork.scan])
        for event in found where callback.filter.admits(event, format: callback.format) {
            if events.count == CallbackWork.batch {
                hasMore = true
                break
            }
            events.append(event)
        }
        if hasMore {
            scanned = events.last?.event.position ?? start
        } else if found.count == CallbackWork.scan {
            scanned = found.last?.event.position ?? start
            hasMore = true
        } else {
            // Whatever came later than the app's last is of others.
            scanned = max(start, latest)
        }
    }
}

/// An event with what callbacks ask about it, out of the tables that know it.
private enum CallbackEventRow {
    private static let columns = """
        SELECT event.*, coalesce(refundCase.productId, delivery.productId, notification.productId) AS productId,
            refundCase.transactionId AS caseTransactionId
        FROM event
        LEFT JOIN refundCase ON refundCase.id = event.caseId
        LEFT JOIN delivery ON delivery.id = event.subject AND event.kind LIKE 'delivery.%'
        LEFT JOIN notification ON notification.app = event.app AND notification.uuid = event.subject
            AND event.kind IN ('notification.received', 'guardianConsentRescinded')
        """

    static func list(
        _ database: SQLDatabase, _ conditions: String, _ arguments: SQLArguments
    ) throws -> [CallbackEvent] {
        try SQLRow.fetchAll(database.cachedStatement(sql: "\(columns) \(conditions)"), arguments: arguments).map(event)
    }

    static func event(_ row: SQLRow) throws -> CallbackEvent {
        let event = try EventRow(row).event
        let transaction = try row.value("caseTransactionId", as: String?.self) ?? event.transactionID
        return CallbackEvent(
            event: event, productID: try row.value("productId"),
            lane: transaction.map { "transaction \($0)" } ?? "event \(event.position)")
    }

    static func fetch(_ position: Int64, app: String, from database: SQLDatabase) throws -> CallbackEvent? {
        try list(database, "WHERE event.position = ? AND event.app = ?", [position, app]).first
    }
}

/// What waits to be sent again, as it stands in its table.
enum CallbackEntryRow {
    /// All that waits of a callback, in order.
    static func list(of callback: Callback, from database: SQLDatabase) throws -> [CallbackEntry] {
        try SQLRow.fetchAll(
            database.cachedStatement(sql: "SELECT * FROM callbackEntry WHERE callbackId = ? ORDER BY position"),
            arguments: [callback.id]
        ).map { row in
            let position: Int64 = try row.value("position")
            return CallbackEntry(
                position: position, lane: try row.value("lane"), attempts: try row.value("attempts"),
                firstFailedAt: try row.dateIfPresent("firstFailedAt"),
                nextAttemptAt: try row.dateIfPresent("nextAttemptAt"),
                event: try CallbackEventRow.fetch(position, app: callback.app, from: database))
        }
    }

    static func count(of id: String, in database: SQLDatabase) throws -> (waiting: Int, failingSince: Date?) {
        let row = try SQLRow.fetchOne(
            database.cachedStatement(
                sql: "SELECT count(*) AS count, min(firstFailedAt) AS since FROM callbackEntry WHERE callbackId = ?"),
            arguments: [id])
        return (try row?.value("count") ?? 0, try row?.dateIfPresent("since"))
    }

    static func save(_ entry: CallbackEntry, of id: String, in database: SQLDatabase) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO callbackEntry (callbackId, position, lane, attempts, firstFailedAt, nextAttemptAt)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (callbackId, position) DO UPDATE SET attempts = excluded.attempts,
                    firstFailedAt = excluded.firstFailedAt, nextAttemptAt = excluded.nextAttemptAt
                """
        ).execute(
            arguments: [
                id, entry.position, entry.lane, entry.attempts, entry.firstFailedAt?.milliseconds,
                entry.nextAttemptAt?.milliseconds,
            ])
    }

    static func remove(_ position: Int64, of id: String, from database: SQLDatabase) throws {
        try database.cachedStatement(sql: "DELETE FROM callbackEntry WHERE callbackId = ? AND position = ?")
            .execute(arguments: [id, position])
    }

    static func removeAll(of id: String, from database: SQLDatabase) throws {
        try database.cachedStatement(sql: "DELETE FROM callbackEntry WHERE callbackId = ?").execute(arguments: [id])
    }

    /// Lets everything be tried at once, and for as long as at first.
    static func renew(_ id: String, in database: SQLDatabase) throws {
        try database.cachedStatement(
            sql: "UPDATE callbackEntry SET firstFailedAt = NULL, nextAttemptAt = NULL WHERE callbackId = ?"
        ).execute(arguments: [id])
    }
}

/// What signs for a callback, sealed.
enum CallbackSecretRow {
    static func list(of callback: Callback, at now: Date, from database: SQLDatabase) throws -> [SealedSecretRecord] {
        try callback.secretNames(at: now).compactMap { try SealedSecretRow.fetch(.callback, $0, from: database) }
    }
}
