package import Domain
import Foundation
import Testing

/// What every store must do with what is over.
package struct MaintenanceContract: Sendable, CustomTestStringConvertible {
    package typealias Store = StoreMaintenance & NotificationStore & QuarantineStore & CaseStore & EventStore
        & DeliveryStore
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    /// Hours of `CaseModel.time` from which on something that ended at hour zero is no longer kept.
    private static let (events, attempts, notifications, deliveries) = (30.0 * 24, 90.0 * 24, 180.0 * 24, 730.0 * 24)

    package static let cases: [MaintenanceContract] = [
        MaintenanceContract("nothing is removed as long as it is kept") { store in
            try await fill(store)
            let result = try await store.enforceRetention(
                RetentionPolicy(), at: CaseModel.time(events - 0.1), limit: 100)
            // Idempotency keys have a lifetime of their own.
            #expect(result.events == 0 && result.notifications == 0 && result.cases == 0 && result.deliveries == 0)
        },
        MaintenanceContract("each kind goes when its time is over") { store in
            try await fill(store)
            let afterEvents = try await remove(store, at: events + 20)
            #expect(afterEvents.events > 0 && afterEvents.notifications == 0)
            #expect(try await store.events(after: 0, limit: 10).isEmpty)
            let afterNotifications = try await remove(store, at: notifications + 20)
            #expect(afterNotifications.notifications == 3 && afterNotifications.quarantined == 1)
            #expect(afterNotifications.cases == 0 && afterNotifications.deliveries == 0)
            #expect(try await store.quarantineStatus().count == 0)
            let afterDeliveries = try await remove(store, at: deliveries + 20)
            #expect(afterDeliveries.cases == 2 && afterDeliveries.deliveries == 1)
            #expect(try await store.delivery(app: "coins", id: "delivery") == nil)
        },
        MaintenanceContract("what is the Sandbox's goes earlier, and nothing else with it") { store in
            for environment in AppStoreEnvironment.allCases {
                let id = environment.rawValue
                let transaction = Transaction.sample(id: id, environment: environment)
                try await store.take(.sample("a-\(id)", transaction: transaction))
                if environment == .sandbox {
                    try await queue(store, caseID: nil, transaction: id, environment: .sandbox)
                }
                try await store.take(.sample("b-\(id)", type: "REFUND", at: 1, transaction: transaction))
            }
            let result = try await remove(store, at: 31 * 24)
            #expect(result.notifications == 2 && result.deliveries == 1 && result.cases == 1)
            #expect(try await store.refundCases(app: "coins", CaseQuery()).map(\.environment) == [.production])
            var policy = RetentionPolicy()
            policy.deliveries = .seconds(86_400)
            policy.sandbox = .seconds(100 * 86_400)
            #expect(try await store.enforceRetention(policy, at: CaseModel.time(31 * 24), limit: 9).cases == 1)
        },
        MaintenanceContract("an answer stays as long as its case in the Sandbox too") { store in
            let transaction = Transaction.sample(environment: .sandbox)
            try await store.take(.sample("a", transaction: transaction))
            try await queue(store, caseID: "case-a", environment: .sandbox)
            // Apple decides after weeks; the case is over then, its answer was before.
            let decided = Double(20 * 24)
            try await store.take(.sample("d", type: "REFUND", at: decided, transaction: transaction))
            let first = try await remove(store, at: 40 * 24)
            #expect(first.deliveries == 0 && first.cases == 0)
            #expect(try await store.delivery(app: "coins", id: "delivery") != nil)
            let second = try await remove(store, at: decided + 30 * 24 + 1)
            #expect(second.deliveries == 1 && second.cases == 1)
        },
        MaintenanceContract("what is not over stays, however old") { store in
            try await store.take(.sample("open"))
            let unprocessed = StoredNotification.sample("unprocessed", transaction: .sample(id: "2"))
            _ = try await store.record(unprocessed)
            try await queue(store, caseID: nil)
            _ = try await remove(store, at: 10 * deliveries)
            #expect(try await store.refundCases(app: "coins", CaseQuery()).map(\.id) == ["case-open"])
            #expect(
                try await store.unprocessedNotifications(limit: 10).map(\.notification.notificationUUID)
                    == ["unprocessed"])
            #expect(try await store.delivery(app: "coins", id: "delivery")?.state == .queued)
        },
        MaintenanceContract("what is over goes in batches, the oldest first, until nothing is left") { store in
            for number in 0..<10 {
                try await store.take(
                    .sample("\(number)", type: "DID_RENEW", at: Double(number) / 100, transaction: nil))
            }
            let policy = RetentionPolicy()
            let now = CaseModel.time(notifications + 20)
            for left in [7, 4, 1] {
                let result = try await store.enforceRetention(policy, at: now, limit: 3)
                #expect(result.notifications == 3 && result.events == 3)
                let kept = try await store.notifications(app: "coins", NotificationQuery())
                    .map(\.notification.notification.notificationUUID)
                #expect(kept == (10 - left..<10).reversed().map(String.init))
                #expect(try await store.events(after: 0, limit: 10).count == left)
            }
            #expect(try await store.enforceRetention(policy, at: now, limit: 3).notifications == 1)
            #expect(try await store.enforceRetention(policy, at: now, limit: 3).isEmpty)
        },
        MaintenanceContract("a case stays as long as a delivery of its own does") { store in
            try await store.take(.sample("a"))
            try await queue(store, caseID: "case-a")
            try await store.take(.sample("d", type: "REFUND", at: 1))
            var policy = RetentionPolicy()
            policy.deliveries = .seconds(3600)
            let first = try await store.enforceRetention(policy, at: CaseModel.time(1.5), limit: 10)
            #expect(first.cases == 0 && first.deliveries == 0)
            let second = try await store.enforceRetention(policy, at: CaseModel.time(2.5), limit: 10)
            #expect(second.cases == 1 && second.deliveries == 1)
        },
        MaintenanceContract("a store in use is as it should be") { store in
            try await fill(store)
            #expect(try await store.checkIntegrity() == [])
        },
    ]

    /// One of each kind, all over within twelve hours.
    private static func fill(_ store: any Store) async throws {
        try await store.take(.sample("a"))
        try await queue(store, caseID: "case-a")
        try await store.take(.sample("d", type: "REFUND", at: 1))
        try await store.take(.sample("late", at: 0, received: 12, transaction: .sample(id: "2")))
        _ = try await store.quarantine(.sample("q"), within: QuarantineBound(perApp: 10, inAll: 10))
    }

    /// Removes all that is over.
    private static func remove(_ store: any Store, at hour: Double) async throws -> RetentionResult {
        try await store.enforceRetention(RetentionPolicy(), at: CaseModel.time(hour), limit: 100)
    }

    private static func queue(
        _ store: any Store, caseID: String?, transaction: String = "1000",
        environment: AppStoreEnvironment = .production
    ) async throws {
        let key = IdempotencyKey(caller: "shop", app: "coins", route: "/", key: "1")
        let draft = try DeliveryDraft.sample(
            "delivery", caseID: caseID, transaction: transaction, environment: environment, key: key)
        guard case .created = try await store.accept(draft).decision else {
            Issue.record("the delivery was not accepted")
            return
        }
    }
}
