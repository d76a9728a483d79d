package import Domain
package import Foundation
import GRDB

extension SQLiteStore {
    package func eraseUser(
        app: String, user: UserID, at now: Date
    ) async throws(ServiceError) -> ErasureReport {
        try await write("erase a user") { [tombstones] database in
            let erasure = UserErasure(app: app, user: user, tombstones: tombstones)
            return try erasure.run(at: now, in: database)
        }
    }
}

/// Removes what is known of a user, within one transaction.
private struct UserErasure {
    let app: String
    let user: UserID
    let tombstones: Tombstones

    func run(at now: Date, in database: Database) throws -> ErasureReport {
        let deliveries = try UserDeliveries.list(of: user, app: app, .all, in: database)
        let ended = try DeliveryRow.cancel(deliveries, because: DeliveryRow.erasure, at: now, in: database)
        let linked = try UserDeliveries.targets(of: user, app: app, in: database)
        let isWithdrawalKept = try isWithdrawn(database)
        if isWithdrawalKept {
            let purchases = try linked.union(purchases(deliveries, database))
            try tombstones.leave(user, purchases, app: app, in: database)
        }
        for row in deliveries { try row.erase(user, in: database) }
        let links = try remove("DELETE FROM link", in: database)
        let records = try ConsentRow.remove(app: app, user: user, from: database)
        let cases = try remove(
            "UPDATE refundCase SET owner = NULL, appAccountToken = NULL", whose: "owner", in: database)
        // Another user's link may make a case that user's now.
        try CaseRow.refreshOwners(app: app, targets: linked, in: database)
        return ErasureReport(
            links: links, consentRecords: records, cancelled: try again(ended.cancelled, database),
            sending: try again(ended.sending, database), deliveries: deliveries.count, cases: cases,
            notifications: try remove("UPDATE notification SET user = NULL", in: database),
            events: try remove("UPDATE event SET user = NULL", in: database), isWithdrawalKept: isWithdrawalKept)
    }

    /// Whether the user's last word is a withdrawal, or an earlier erasure left one.
    private func isWithdrawn(_ database: Database) throws -> Bool {
        if let latest = try ConsentRow.latest(app: app, user: user, from: database) { return !latest.isConsented }
        return try tombstones.isErased(user, app: app, in: database)
    }

    /// The identifiers of single purchases that were the user's: they are recognised although their rows lose the token.
    private func purchases(_ deliveries: [DeliveryRow], _ database: Database) throws -> [LinkTarget] {
        let cases = try CaseRow.list(
            database, sql: "SELECT * FROM refundCase WHERE app = ? AND owner = ? ORDER BY deadline, id",
            arguments: [app, LinkRow.bytes(user)])
        let transactions = deliveries.map(\.delivery.transactionID) + cases.map(\.transactionID)
        let originals =
            deliveries.compactMap(\.delivery.purchase?.originalTransactionID)
            + cases.map(\.purchase.originalTransactionID)
        return transactions.map { LinkTarget(.transactionId, $0) }
            + originals.map { LinkTarget(.originalTransactionId, $0) }
    }

    /// Runs a statement on the user's rows.
    ///
    /// - Returns: how many there were.
    private func remove(_ sql: String, whose column: String = "user", in database: Database) throws -> Int {
        try database.execute(
            sql: "\(sql) WHERE app = ? AND \(column) = ?", arguments: [app, LinkRow.bytes(user)])
        return database.changesCount
    }

    /// Deliveries as they now are.
    private func again(_ deliveries: [Delivery], _ database: Database) throws -> [Delivery] {
        try deliveries.compactMap { try DeliveryRow.fetch(app: app, id: $0.id, from: database)?.delivery }
    }
}

extension DeliveryRow {
    /// Why a delivery of an erased user ended; also in the place of a failure that may name the user.
    static var erasure: DeliveryFailure { DeliveryFailure(reason: .deliveryEnded, message: "Its user was erased.") }

    /// Whether its content was removed with its user.
    var isErased: Bool { delivery.body.isEmpty }

    /// Removes the user, the content, and whatever may name the user.
    fileprivate func erase(_ user: UserID, in database: Database) throws {
        let failure = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT failure FROM delivery WHERE id = ?"), arguments: [delivery.id]
        )?.value("failure", as: Data?.self).map(DeliveryFailure.init(stored:))
        try database.cachedStatement(
            sql: """
                UPDATE delivery SET user = CASE WHEN user = ? THEN NULL ELSE user END, body = x'',
                    appAccountToken = NULL, failure = ?
                WHERE id = ?
                """
        ).execute(
            arguments: [LinkRow.bytes(user), try failure.map { try $0.withoutUser.stored }, delivery.id])
        try database.cachedStatement(sql: "DELETE FROM idempotencyKey WHERE deliveryId = ?")
            .execute(arguments: [delivery.id])
    }
}

extension DeliveryFailure {
    /// The failure without the sentence, which may name a user.
    var withoutUser: DeliveryFailure {
        DeliveryFailure(reason: reason, message: DeliveryRow.erasure.message, apple: apple)
    }
}

/// What erased users' withdrawals left: reads and writes the table of keyed hashes.
struct Tombstones: Sendable {
    /// Nil where the store was opened without one: then none can be left, and nothing is said while there are some.
    let hasher: TombstoneHasher?

    /// A key at random, for the hasher.
    static var freshKey: [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }

    /// Whether a user was erased who had withdrawn.
    func isErased(_ user: UserID, app: String, in database: Database) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try isLeft(hash { $0.hash(app: app, user: user) }, in: database)
    }

    /// Whether one of these identifiers was an erased user's who had withdrawn.
    func isErased(_ targets: [LinkTarget], app: String, in database: Database) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try targets.contains { target in
            try isLeft(hash { $0.hash(app: app, target: target) }, in: database)
        }
    }

    /// Leaves the hashes of a user and of the identifiers that were its own.
    func leave(_ user: UserID, _ targets: Set<LinkTarget>, app: String, in database: Database) throws {
        let userHash = try hash { $0.hash(app: app, user: user) }
        let hashes = try targets.map { target in try hash { $0.hash(app: app, target: target) } }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO tombstone (hash, userHash) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for hash in [userHash] + hashes { try statement.execute(arguments: [hash, userHash]) }
    }

    /// Removes all that an erasure of this user left.
    func remove(_ user: UserID, app: String, in database: Database) throws {
        guard try hasAny(database) else { return }
        try database.execute(
            sql: "DELETE FROM tombstone WHERE userHash = ?",
            arguments: [try hash { $0.hash(app: app, user: user) }])
    }

    /// Whether there is any at all, which is seldom.
    func hasAny(_ database: Database) throws -> Bool {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash > x'' LIMIT 1")) != nil
    }

    private func isLeft(_ hash: Data, in database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash = ? LIMIT 1"), arguments: [hash]) != nil
    }

    /// An empty hash is one that could not be made: it must not look like one that is not there.
    private func hash(_ make: (TombstoneHasher) -> [UInt8]) throws -> Data {
        guard let hash = hasher.map(make), !hash.isEmpty else {
            throw ServiceError(.storeUnavailable, "The hashes of erased users cannot be made now.")
        }
        return Data(hash)
    }
}
