package import Domain
package import Foundation
import GRDB

extension SQLiteStore: EventStore {
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
            let start =
                try Int64.fetchOne(
                    database, sql: "SELECT position FROM event WHERE at < ? ORDER BY at DESC LIMIT 1",
                    arguments: [date.milliseconds - EventRow.clockSlack]) ?? 0
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

extension EventRow {
    /// How far, in milliseconds, events may lie from the order of their times; beyond it a clock was set.
    fileprivate static let clockSlack: Int64 = 60_000

    fileprivate static func list(
        _ database: Database, sql: String, arguments: StatementArguments
    ) throws -> [ServiceEvent] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { try EventRow($0).event }
    }

    /// Which events are there; SQLite itself knows the latest position when all are forgotten.
    fileprivate static func bounds(_ database: Database) throws -> EventBounds {
        let latest =
            try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
        let first = try Int64.fetchOne(database, sql: "SELECT min(position) FROM event")
        return EventBounds(forgotten: first.map { $0 - 1 } ?? latest, latest: latest)
    }
}
