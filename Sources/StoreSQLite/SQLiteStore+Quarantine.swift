package import Domain
package import Foundation
import GRDB

extension SQLiteStore {
    package func quarantine(
        _ notification: QuarantinedNotification, keeping maximum: Int
    ) async throws(ServiceError) {
        try await write("keep a notification in quarantine") { database in
            try database.execute(
                sql: "INSERT INTO quarantine (app, uuid, fault, receivedAt, signed) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    notification.app, notification.notificationUUID, notification.fault,
                    notification.receivedAt.milliseconds, notification.signed,
                ])
            try database.execute(
                sql: "DELETE FROM quarantine WHERE position <= (SELECT max(position) FROM quarantine) - ?",
                arguments: [maximum])
        }
    }

    package func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?) {
        try await read("look into the quarantine") { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT position, receivedAt FROM quarantine WHERE position > 0 ORDER BY position DESC LIMIT 1
                    """)
            guard let row, let first = try Int64.fetchOne(database, sql: "SELECT min(position) FROM quarantine") else {
                return (0, nil)
            }
            let last: Int64 = try row.value("position")
            return (Int(last - first + 1), try row.date("receivedAt"))
        }
    }
}
