import Domain
import Foundation
import GRDB

/// An idempotency key as it stands in its table.
enum IdempotencyKeyRow {
    /// The delivery that a key stands for, if the key is known and not too old.
    static func delivery(
        for key: IdempotencyKey, at now: Date, from database: Database
    ) throws -> (delivery: Delivery, requestDigest: [UInt8])? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT requestDigest, deliveryId FROM idempotencyKey
                WHERE caller = ? AND app = ? AND route = ? AND key = ? AND createdAt > ?
                """)
        let oldest = now.addingTimeInterval(-IdempotencyKey.lifetime)
        guard
            let row = try Row.fetchOne(
                statement, arguments: [key.caller, key.app, bytes(key.route), bytes(key.key), oldest.milliseconds]),
            let delivery = try DeliveryRow.fetch(app: key.app, id: row.value("deliveryId"), from: database)
        else { return nil }
        return (delivery.delivery, try row.bytes("requestDigest"))
    }

    /// Keeps a key, in the place of one that was too old.
    static func save(
        _ key: IdempotencyKey, requestDigest: [UInt8], deliveryID: String, at now: Date, in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO idempotencyKey (caller, app, route, key, requestDigest, deliveryId, createdAt)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (caller, app, route, key) DO UPDATE SET
                    requestDigest = excluded.requestDigest, deliveryId = excluded.deliveryId,
                    createdAt = excluded.createdAt
                """)
        try statement.execute(
            arguments: [
                key.caller, key.app, bytes(key.route), bytes(key.key), Data(requestDigest), deliveryID,
                now.milliseconds,
            ])
    }

    private static func bytes(_ text: String) -> Data { Data(text.utf8) }
}
