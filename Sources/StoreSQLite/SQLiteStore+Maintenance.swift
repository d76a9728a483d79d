package import Domain
package import Foundation
import GRDB

extension SQLiteStore: StoreMaintenance {
    package func enforceRetention(
        _ policy: RetentionPolicy, at now: Date, limit: Int
    ) async throws(ServiceError) -> RetentionResult {
        var result = RetentionResult()
        result.notifications = try await remove(Retention.notifications, policy.notifications, at: now, limit)
        result.quarantined = try await remove(Retention.quarantined, policy.notifications, at: now, limit)
        result.idempotencyKeys = try await remove(
            Retention.idempotencyKeys, .seconds(IdempotencyKey.lifetime), at: now, limit)
        result.attempts = try await remove(Retention.attempts, policy.attempts, at: now, limit)
        result.deliveries = try await remove(Retention.deliveries, policy.deliveries, at: now, limit)
        result.cases = try await remove(Retention.cases, policy.deliveries, at: now, limit)
        result.events = try await remove(Retention.events, policy.events, at: now, limit)
        return result
    }

    /// One transaction for each kind, so that none keeps other writes waiting for long.
    private func remove(
        _ kind: @escaping @Sendable (Database, _ end: Date, _ limit: Int) throws -> Int, _ lifetime: Duration,
        at now: Date, _ limit: Int
    ) async throws(ServiceError) -> Int {
        let end = now.addingTimeInterval(-(lifetime / .seconds(1)))
        return try await write("remove what is no longer kept") { try kind($0, end, limit) }
    }

    package func backup(to path: String, at now: Date) async throws(ServiceError) {
        let hold = SendingHold(since: now, reason: "The store comes from a backup.")
        try await Blocking.run { [pool] in
            Result { () throws(ServiceError) in
                try StoreCopy.make(of: pool, named: try StoreFile.resolve(path), hold)
            }
        }.get()
    }

    package func checkIntegrity() async throws(ServiceError) -> [String] {
        try await read("check the store") { try StoreIntegrity.faults(of: $0) }
    }
}
