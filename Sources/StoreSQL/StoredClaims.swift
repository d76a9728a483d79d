package import Domain
package import Foundation

// What copies of the daemon ask of each other's claims; SQLite has one process, which knows its own.

extension SQLStore {
    package func keepFindings(
        _ findings: DeliveryFindings, of delivery: Delivery, claimedBy worker: String, at claimedAt: Date, now: Date
    ) async throws(ServiceError) -> EndedDeliveries? {
        try await write("keep what an attempt has found out") { database in
            guard var row = try DeliveryRow.fetch(app: delivery.app, id: delivery.id, from: database),
                row.delivery.state == .sending, row.isClaimed(by: worker, at: claimedAt)
            else { return nil }
            guard try row.learn(findings, in: database), let purchase = row.delivery.purchase else {
                return EndedDeliveries.none
            }
            // Its case may have been waiting for it.
            return try PurchaseRow.settle(purchase, app: delivery.app, at: now, in: database).ended
        }
    }

    package func returnClaims(
        of worker: String, except known: Set<String>, at now: Date
    ) async throws(ServiceError) {
        try await write("give back claims that nobody knows of") { database in
            for row in try DeliveryRow.sending("worker = ?", [worker], in: database)
            where !known.contains(row.delivery.id) {
                if let cancellation = row.cancellation {
                    _ = try row.end(as: .cancelled, because: cancellation, at: now, in: database)
                } else {
                    var queued = row.delivery
                    queued.state = .queued
                    queued.nextAttemptAt = now
                    _ = try row.save(queued, at: now, in: database)
                }
            }
        }
    }

    package func claimsToEnd(
        of worker: String, among ids: Set<String>
    ) async throws(ServiceError) -> Set<String> {
        try await read("look for attempts that are to end") { database in
            let going = try String.fetchSet(
                database.cachedStatement(
                    sql: """
                        SELECT id FROM delivery
                        WHERE state = 'sending' AND app > '' AND worker = ? AND cancellation IS NULL
                        """), arguments: [worker])
            return ids.subtracting(going)
        }
    }

    package func settledClaim(
        app: String, id: String, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery?, isSettled: Bool) {
        let found = try await read("look what became of a claim") { [sharing] database in
            let delivery = try DeliveryRow.present(app: app, id: id, from: database)
            let isGoingOn = try DeliveryRow.leaseGoesOn(id, at: sharing.time(now, in: database), in: database)
            return (delivery, isGoingOn)
        }
        guard found.0?.state == .sending else { return (found.0, true) }
        guard !found.1 else { return (found.0, false) }
        return try await write("end a claim whose lease is over") { [sharing] database in
            let time = try sharing.time(now, in: database)
            guard let row = try DeliveryRow.fetch(app: app, id: id, from: database),
                row.delivery.state == .sending, try !DeliveryRow.leaseGoesOn(id, at: time, in: database)
            else { return (try DeliveryRow.present(app: app, id: id, from: database), true) }
            _ = try row.interrupted(
                as: row.cancellation == nil ? .queued : .cancelled, because: row.cancellation, at: now, in: database)
            return (try DeliveryRow.present(app: app, id: id, from: database), true)
        }
    }

    package func endedDeliveries(among ids: Set<String>) async throws(ServiceError) -> [Delivery] {
        guard !ids.isEmpty else { return [] }
        return try await read("look which deliveries have ended") { database in
            let ids = ids.sorted().prefix(SQLList.maximumLength)
            return try SQLRow.fetchAll(
                database.makeStatement(
                    sql: """
                        SELECT id, app FROM delivery
                        WHERE id IN (\(SQLList.placeholders(ids.count))) AND endedAt IS NOT NULL
                        """), arguments: SQLArguments(Array(ids))
            ).compactMap { row in
                try DeliveryRow.present(app: row.value("app"), id: row.value("id"), from: database)
            }
        }
    }
}

extension DeliveryRow {
    /// Whether a claim is a worker's; `at`: when it was made, nil for whichever there is.
    func isClaimed(by worker: String, at claimedAt: Date?) -> Bool {
        guard let claim, claim.worker == worker else { return false }
        return claimedAt.map { $0 == claim.at } ?? true
    }

    /// Whether somebody sends a delivery under a lease that goes on.
    fileprivate static func leaseGoesOn(_ id: String, at time: Date, in database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT 1 FROM delivery WHERE id = ? AND state = 'sending' AND leaseUntil > ?"),
            arguments: [id, time.milliseconds]) != nil
    }
}
