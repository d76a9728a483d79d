package import Domain
package import Foundation
import GRDB

extension SQLiteStore: DeliveryStore {
    package func delivery(
        for key: IdempotencyKey, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])? {
        try await read("look an idempotency key up") { try IdempotencyKeyRow.delivery(for: key, at: now, from: $0) }
    }

    package func accept(_ draft: DeliveryDraft) async throws(ServiceError) -> AcceptRules.Decision {
        try await write("take a delivery over") { database in
            let new = draft.delivery
            var situation = AcceptRules.Situation()
            if let key = draft.idempotencyKey {
                situation.keyed = try IdempotencyKeyRow.delivery(for: key, at: new.createdAt, from: database)
            }
            if let caseID = new.caseID {
                situation.refundCase = try CaseRow.fetch(app: new.app, id: caseID, from: database)
                situation.siblings = try DeliveryRow.ofCase(id: caseID, app: new.app, from: database)
            }
            situation.objection = try ConsentQuery.objection(to: draft.subject, self.tombstones, in: database)
            let decision = AcceptRules.decide(draft, situation)
            guard case .created(let delivery) = decision else { return decision }
            try DeliveryRow.insert(delivery, into: database)
            if let key = draft.idempotencyKey {
                try IdempotencyKeyRow.save(
                    key, requestDigest: draft.requestDigest, deliveryID: delivery.id, at: delivery.createdAt,
                    in: database)
            }
            return decision
        }
    }

    package func delivery(app: String, id: String) async throws(ServiceError) -> Delivery? {
        try await read("read a delivery") { try DeliveryRow.fetch(app: app, id: id, from: $0)?.delivery }
    }

    package func deliveries(app: String, _ query: DeliveryQuery) async throws(ServiceError) -> [Delivery] {
        try await read("list deliveries") { try DeliveryRow.page($0, app: app, query) }
    }

    package func cancelDelivery(
        app: String, id: String, because failure: DeliveryFailure, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, isChanged: Bool)? {
        try await write("cancel a delivery") { database in
            guard let row = try DeliveryRow.fetch(app: app, id: id, from: database) else { return nil }
            switch row.delivery.state {
            case .queued: return (try row.end(as: .cancelled, because: failure, at: now, in: database), true)
            case .sending: return (row.delivery, try row.askForEnd(because: failure, in: database))
            case .accepted, .refused, .expired, .cancelled: return (row.delivery, false)
            }
        }
    }

    package func deliveryBacklog() async throws(ServiceError) -> [DeliveryBacklog] {
        try await read("count the deliveries under way") { database in
            // The groups are in the order of the partial index, which holds what has not ended alone.
            try Row.fetchAll(
                database,
                sql: """
                    SELECT app, state, count(*) AS count, min(createdAt) AS oldest, min(deadline) AS nearest FROM delivery
                    WHERE endedAt IS NULL AND app > '' GROUP BY app, state
                    """
            ).map { row in
                DeliveryBacklog(
                    app: try row.value("app"), state: try row.known("state"),
                    count: try row.value("count"), oldestCreatedAt: try row.date("oldest"),
                    nearestDeadline: try row.date("nearest"))
            }
        }
    }
}

extension DeliveryRow {
    /// How much earlier a delivery may have been created than one with a lower id, as a clock may be set.
    private static let clockSlack: TimeInterval = 3600

    /// A page of an app's deliveries, newest first.
    fileprivate static func page(_ database: Database, app: String, _ query: DeliveryQuery) throws -> [Delivery] {
        var conditions = Conditions()
        conditions.add("app = ?", app)
        // The most selective filter finds the rows, the others pick from them.
        if let caseID = query.caseID { conditions.add("caseId = ?", caseID) }
        let isOfCase = query.caseID != nil
        if let transaction = query.transactionID {
            conditions.add(isOfCase ? "+transactionId = ?" : "transactionId = ?", transaction)
        }
        let isOfFew = isOfCase || query.transactionID != nil
        if let user = query.user { conditions.add(isOfFew ? "+user = ?" : "user = ?", LinkRow.bytes(user)) }
        add(query.states, to: &conditions, isOfFew: isOfFew || query.user != nil)
        if let environment = query.environment { conditions.add("+environment = ?", environment.rawValue) }
        if let before = query.before { conditions.add("id < ?", before) }
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: "SELECT * FROM delivery WHERE \(conditions.sql) ORDER BY id DESC"),
            arguments: conditions.arguments)
        var page: [Delivery] = []
        while page.count < query.limit, let row = try rows.next() {
            if let since = query.since {
                let createdAt = try row.date("createdAt")
                // Rows come by age: nothing that follows is young enough.
                if createdAt < since.addingTimeInterval(-clockSlack) { break }
                if createdAt < since { continue }
            }
            page.append(try DeliveryRow(row, from: database).delivery)
        }
        return page
    }

    private static func add(_ states: Set<Delivery.State>, to conditions: inout Conditions, isOfFew: Bool) {
        guard let state = states.first else { return }
        if states.count == 1, !isOfFew {
            conditions.add("state = ?", state.rawValue)
            conditions.add(state.isFinal ? "endedAt IS NOT NULL" : "endedAt IS NULL", [])
        } else {
            let names = states.map(\.rawValue).sorted()
            conditions.add("+state IN (\(SQLiteStore.placeholders(names.count)))", names)
        }
    }
}

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
