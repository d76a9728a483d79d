package import Domain
package import Foundation

extension SQLStore {
    package func events(app: String, after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent] {
        try await read("read an app's events") { database in
            try EventRow.list(
                database, sql: "SELECT * FROM event WHERE app = ? AND position > ? ORDER BY position LIMIT ?",
                arguments: [app, position, limit])
        }
    }

    package func events(after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent] {
        try await read("read events") { database in
            try EventRow.list(
                database, sql: "SELECT * FROM event WHERE position > ? ORDER BY position LIMIT ?",
                arguments: [position, limit])
        }
    }

    package func eventPosition(before date: Date) async throws(ServiceError) -> Int64 {
        try await read("find a time among the events") { database in
            let start = try EventRow.position(before: date.milliseconds - EventRow.clockSlack, in: database)
            let first = try Int64.fetchOne(
                database, sql: "SELECT position FROM event WHERE position > ? AND +at >= ? ORDER BY position LIMIT 1",
                arguments: [start, date.milliseconds])
            return try first.map { $0 - 1 } ?? EventRow.bounds(database).latest
        }
    }

    package func eventBounds() async throws(ServiceError) -> EventBounds {
        try await read("read which events are kept") { try EventRow.bounds($0) }
    }
}

/// An event as it stands in its table.
struct EventRow: Sendable {
    let event: ServiceEvent

    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow) throws {
        event = ServiceEvent(
            position: try row.value("position"), app: try row.value("app"),
            kind: try row.known("kind"), subject: try row.value("subject"), at: try row.date("at"),
            environment: try row.knownIfPresent("environment"),
            transactionID: try row.value("transactionId"), user: try row.userIfPresent("user"),
            caseID: try row.value("caseId"), detail: try row.value("detail"),
            notificationType: try row.value("notificationType"),
            subtype: try row.value("subtype"))
    }

    /// Keeps an event at the position behind all others; its own position does not count.
    static func append(_ event: ServiceEvent, to database: SQLDatabase) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO event
                    (app, kind, subject, at, environment, transactionId, user, caseId, detail, notificationType, subtype)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(
            arguments: [
                event.app, event.kind.rawValue, event.subject, event.at.milliseconds, event.environment?.rawValue,
                event.transactionID, event.user.map(LinkRow.bytes), event.caseID, event.detail, event.notificationType,
                event.subtype,
            ])
    }

    /// How far, in milliseconds, events may lie from the order of their times; beyond it a clock was set.
    fileprivate static let clockSlack: Int64 = 60_000

    /// A position up to which everything happened before a time, found by halving.
    fileprivate static func position(before time: Int64, in database: SQLDatabase) throws -> Int64 {
        let next = try database.cachedStatement(
            sql: "SELECT position, at FROM event WHERE position > ? ORDER BY position LIMIT 1")
        let bounds = try bounds(database)
        var (before, end) = (bounds.forgotten, bounds.latest)
        while before < end {
            let middle = before + (end - before) / 2
            guard let row = try SQLRow.fetchOne(next, arguments: [middle]) else { return before }
            let position = try row.value("position", as: Int64.self)
            if try row.value("at", as: Int64.self) < time { before = position } else { end = middle }
        }
        return before
    }

    static func list(
        _ database: SQLDatabase, sql: String, arguments: SQLArguments
    ) throws -> [ServiceEvent] {
        try SQLRow.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { try EventRow($0).event }
    }

    /// Which events are there; the engine itself knows the latest position when all are forgotten.
    static func bounds(_ database: SQLDatabase) throws -> EventBounds {
        let latest = try database.lastPosition(of: "event")
        let first = try Int64.fetchOne(database, sql: "SELECT min(position) FROM event")
        let epoch = try EventEpochRow.fetch(from: database)
        return EventBounds(
            forgotten: first.map { $0 - 1 } ?? latest, latest: latest, epoch: epoch.epoch,
            latestWithoutEpoch: epoch.latestWithoutEpoch)
    }
}

/// What positions of events mean something in, as it stands in its table.
package struct EventEpochRow: Sendable {
    /// 16 hexadecimal digits, drawn from the system's randomness.
    let epoch: String
    let latestWithoutEpoch: Int64

    static func fetch(from database: SQLDatabase) throws -> EventEpochRow {
        let statement = try database.cachedStatement(
            sql: "SELECT epoch, latestWithoutEpoch FROM eventEpoch WHERE id = 1")
        guard let row = try SQLRow.fetchOne(statement) else {
            throw SQLError.damaged("the epoch of the events is missing")
        }
        return EventEpochRow(epoch: try row.value("epoch"), latestWithoutEpoch: try row.value("latestWithoutEpoch"))
    }

    /// Draws an epoch.
    package static func make() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Begins another epoch: a copy goes on by itself from here.
    package static func renew(in database: SQLDatabase) throws {
        try database.execute(
            sql: "UPDATE eventEpoch SET epoch = ?, latestWithoutEpoch = 0 WHERE id = 1", arguments: [make()])
    }
}
