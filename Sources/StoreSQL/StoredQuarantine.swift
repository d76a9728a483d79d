package import Domain
package import Foundation

// Notifications that do not verify, kept to be verified anew.

extension SQLStore {
    package func quarantine(
        _ notification: QuarantinedNotification, within bound: QuarantineBound
    ) async throws(ServiceError) -> QuarantineReceipt {
        try await write("keep a notification in quarantine") { database in
            if let uuid = notification.claims.notificationUUID,
                try NotificationRow.isKnown(app: notification.app, uuid: uuid, in: database)
            {
                return .known
            }
            if try QuarantineRow.repeated(notification, in: database) { return .known }
            if notification.source == .history {
                guard try QuarantineRow.hasRoom(for: notification, within: bound, in: database) else { return .refused }
                try QuarantineRow.insert(notification, into: database)
            } else {
                try QuarantineRow.insert(notification, into: database)
                try QuarantineRow.makeRoom(for: notification, within: bound, in: database)
                guard try QuarantineRow.isKept(notification, in: database) else { return .refused }
            }
            return .new
        }
    }

    package func quarantined(
        after position: Int64, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, notification: QuarantinedNotification)] {
        try await read("read what is in quarantine") { database in
            try SQLRow.fetchAll(
                database, sql: "SELECT * FROM quarantine WHERE position > ? ORDER BY position LIMIT ?",
                arguments: [position, limit]
            ).map { (try $0.value("position"), try QuarantineRow.notification($0)) }
        }
    }

    package func quarantineTried(
        _ tries: [(position: Int64, fault: String, namesOurs: Bool)], at now: Date
    ) async throws(ServiceError) {
        guard !tries.isEmpty else { return }
        try await write("take note of what still does not verify") { database in
            let statement = try database.cachedStatement(
                sql: "UPDATE quarantine SET triedAt = ?, fault = ?, namesOurs = ? WHERE position = ?")
            for (position, fault, namesOurs) in tries {
                try statement.execute(arguments: [now.milliseconds, fault, namesOurs, position])
            }
        }
    }

    package func release(
        _ position: Int64, as notification: StoredNotification
    ) async throws(ServiceError) -> Bool {
        try await write("keep a notification out of quarantine") { database in
            try database.cachedStatement(sql: "DELETE FROM quarantine WHERE position = ?").execute(arguments: [position]
            )
            // What was erased meanwhile does not come back.
            guard database.changesCount == 1 else { return false }
            return try NotificationRow.record(notification, in: database)
        }
    }

    package func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?) {
        try await read("look into the quarantine") { database in
            let latest = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT max(lastReceivedAt) FROM quarantine WHERE lastReceivedAt > 0"))
            let count = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT count(*) FROM quarantine WHERE isFromHistory IN (0, 1)"))
            return (count ?? 0, latest.map(Date.init(milliseconds:)))
        }
    }
}

/// A row of `quarantine`.
enum QuarantineRow {
    static func notification(_ row: SQLRow) throws -> QuarantinedNotification {
        var claims = NotificationClaims(
            notificationUUID: try row.value("uuid"), environment: try row.knownIfPresent("environment"),
            signedAt: try row.dateIfPresent("signedDate"))
        for kind in LinkTarget.Kind.allCases {
            guard let value = try row.value(kind.rawValue, as: String?.self) else { continue }
            claims.identifiers.insert(LinkTarget(kind, value))
        }
        return QuarantinedNotification(
            app: try row.value("app"), claims: claims, namesOurs: try row.value("namesOurs"),
            fault: try row.value("fault"), source: try row.known("source"),
            receivedAt: try row.date("receivedAt"), lastReceivedAt: try row.date("lastReceivedAt"),
            triedAt: try row.dateIfPresent("triedAt"), keptUntil: try row.date("keptUntil"),
            signed: try row.value("signed"))
    }

    /// Takes note of one that is kept already and came once more.
    ///
    /// - Returns: whether it is kept already.
    static func repeated(_ notification: QuarantinedNotification, in database: SQLDatabase) throws -> Bool {
        let isFromHistory = notification.source == .history
        try database.cachedStatement(
            sql: """
                UPDATE quarantine SET fault = ?, lastReceivedAt = max(lastReceivedAt, ?),
                    source = CASE WHEN ? THEN ? ELSE source END, isFromHistory = max(isFromHistory, ?),
                    namesOurs = max(namesOurs, ?)
                WHERE app = ? AND identity = ?
                """
        ).execute(
            arguments: [
                notification.fault, notification.lastReceivedAt.milliseconds, isFromHistory,
                notification.source.rawValue, isFromHistory, notification.namesOurs, notification.app,
                notification.identity,
            ])
        return database.changesCount > 0
    }

    static func insert(_ notification: QuarantinedNotification, into database: SQLDatabase) throws {
        let claims = notification.claims
        func value(_ kind: LinkTarget.Kind) -> String? { claims.identifiers.first { $0.kind == kind }?.value }
        try database.cachedStatement(
            sql: """
                INSERT INTO quarantine
                    (app, identity, uuid, environment, signedDate, source, isFromHistory, namesOurs, fault, receivedAt,
                     lastReceivedAt, triedAt, keptUntil, signed, transactionId, originalTransactionId, appTransactionId,
                     appAccountToken)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                notification.app, notification.identity, claims.notificationUUID, claims.environment?.rawValue,
                claims.signedAt?.milliseconds, notification.source.rawValue, notification.source == .history,
                notification.namesOurs, notification.fault, notification.receivedAt.milliseconds,
                notification.lastReceivedAt.milliseconds,
                notification.triedAt?.milliseconds, notification.keptUntil.milliseconds, notification.signed,
                value(.transactionId), value(.originalTransactionId), value(.appTransactionId),
                value(.appAccountToken),
            ])
    }

    /// Whether one more of Apple's history is within the bound.
    static func hasRoom(
        for notification: QuarantinedNotification, within bound: QuarantineBound, in database: SQLDatabase
    ) throws -> Bool {
        try count(ofApp: notification.app, isFromHistory: true, database) < bound.perApp
            && count(isFromHistory: true, database) < bound.inAll
    }

    /// Removes what was sent to us until it is within the bound: strangers' beyond their share, then strangers', then others; the
    /// oldest of the app, then the oldest of the app that has most.
    static func makeRoom(
        for notification: QuarantinedNotification, within bound: QuarantineBound, in database: SQLDatabase
    ) throws {
        let app = notification.app
        if !notification.namesOurs {
            try removeOldest(
                try count(ofApp: app, namingOurs: false, database) - bound.strangersPerApp, ofApp: app,
                namingOurs: false, database)
            try removeFromFullest(
                try count(namingOurs: false, database) - bound.strangersInAll, namingOurs: false, database)
        }
        for namesOurs in [false, true] {
            let overApp =
                try count(ofApp: app, namingOurs: false, database) + count(ofApp: app, namingOurs: true, database)
                - bound.perApp
            try removeOldest(overApp, ofApp: app, namingOurs: namesOurs, database)
        }
        for namesOurs in [false, true] {
            let overAll = try count(isFromHistory: false, database) - bound.inAll
            try removeFromFullest(overAll, namingOurs: namesOurs, database)
        }
    }

    /// Whether a notification is in quarantine.
    static func isKept(_ notification: QuarantinedNotification, in database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM quarantine WHERE app = ? AND identity = ?"),
            arguments: [notification.app, notification.identity]) != nil
    }

    /// Removes the oldest of an app, up to a number.
    private static func removeOldest(
        _ count: Int, ofApp app: String, namingOurs namesOurs: Bool, _ database: SQLDatabase
    ) throws {
        guard count > 0 else { return }
        try database.cachedStatement(
            sql: """
                DELETE FROM quarantine WHERE position IN (
                    SELECT position FROM quarantine WHERE isFromHistory = 0 AND namesOurs = ? AND app = ?
                    ORDER BY position LIMIT ?)
                """
        ).execute(arguments: [namesOurs, app, count])
    }

    /// Removes the oldest of whichever app has most, up to a number.
    private static func removeFromFullest(_ count: Int, namingOurs namesOurs: Bool, _ database: SQLDatabase) throws {
        guard count > 0 else { return }
        for _ in 0..<count {
            guard let position = try oldestOfFullestApp(namingOurs: namesOurs, database) else { return }
            try database.cachedStatement(sql: "DELETE FROM quarantine WHERE position = ?").execute(arguments: [position]
            )
        }
    }

    /// The oldest of the app in whose name most was sent to us: a flood in the name of some apps must not push out what came for
    /// others.
    private static func oldestOfFullestApp(namingOurs namesOurs: Bool, _ database: SQLDatabase) throws -> Int64? {
        let apps = try SQLRow.fetchRows(
            database.cachedStatement(
                sql: """
                    SELECT count(*) AS count, min(position) AS oldest FROM quarantine
                    WHERE isFromHistory = 0 AND namesOurs = ? GROUP BY app
                    """), arguments: [namesOurs])
        var fullest: (count: Int, oldest: Int64)?
        while let app = try apps.next() {
            let (count, oldest): (Int, Int64) = (try app.value("count"), try app.value("oldest"))
            if fullest.map({ (count, $0.oldest) > ($0.count, oldest) }) ?? true { fullest = (count, oldest) }
        }
        return fullest?.oldest
    }

    private static func count(isFromHistory: Bool, _ database: SQLDatabase) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT count(*) FROM quarantine WHERE isFromHistory = ?"),
            arguments: [isFromHistory]) ?? 0
    }

    private static func count(ofApp app: String, isFromHistory: Bool, _ database: SQLDatabase) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT count(*) FROM quarantine WHERE isFromHistory = ? AND app = ?"),
            arguments: [isFromHistory, app]) ?? 0
    }

    /// How many of those that were sent to us.
    private static func count(namingOurs namesOurs: Bool, _ database: SQLDatabase) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT count(*) FROM quarantine WHERE isFromHistory = 0 AND namesOurs = ?"),
            arguments: [namesOurs]) ?? 0
    }

    /// How many of those that were sent to us in the name of an app.
    private static func count(ofApp app: String, namingOurs namesOurs: Bool, _ database: SQLDatabase) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT count(*) FROM quarantine WHERE isFromHistory = 0 AND namesOurs = ? AND app = ?"),
            arguments: [namesOurs, app]) ?? 0
    }
}
