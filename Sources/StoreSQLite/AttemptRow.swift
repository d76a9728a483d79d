import Domain
import GRDB

/// An attempt of a delivery as it stands in its table.
enum AttemptRow {
    /// The attempts of a delivery that are still kept, oldest first.
    static func list(of deliveryID: String, from database: Database) throws -> [DeliveryAttempt] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM deliveryAttempt WHERE deliveryId = ? ORDER BY number")
        return try Row.fetchAll(statement, arguments: [deliveryID]).map { row in
            DeliveryAttempt(
                startedAt: try row.date("startedAt"),
                duration: .microseconds(try row.value("microseconds", as: Int64.self)),
                httpStatus: try row.value("httpStatus"), errorCode: try row.value("errorCode"),
                failure: try row.value("failure"))
        }
    }

    /// Keeps attempts behind those that there were.
    static func append(
        _ attempts: [DeliveryAttempt], to deliveryID: String, behind count: Int, in database: Database
    ) throws {
        for (offset, attempt) in attempts.enumerated() {
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO deliveryAttempt
                        (deliveryId, number, startedAt, microseconds, httpStatus, errorCode, failure)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """)
            try statement.execute(
                arguments: [
                    deliveryID, count + offset + 1, attempt.startedAt.milliseconds,
                    attempt.duration.microseconds, attempt.httpStatus, attempt.errorCode, attempt.failure,
                ])
        }
    }
}

extension DeliveryAttempt {
    /// As it comes back from its row.
    var asStored: DeliveryAttempt {
        DeliveryAttempt(
            startedAt: startedAt.asStored, duration: .microseconds(duration.microseconds),
            httpStatus: httpStatus, errorCode: errorCode, failure: failure)
    }
}

extension Duration {
    /// The whole microseconds.
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
