import Domain
import GRDB

/// An event as it stands in its table.
struct EventRow: Sendable {
    let event: ServiceEvent

    /// Reads a row with all columns.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row) throws {
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
    static func append(_ event: ServiceEvent, to database: Database) throws {
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
}
