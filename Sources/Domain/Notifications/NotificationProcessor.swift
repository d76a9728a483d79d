package import Foundation
package import Logging

/// Applies what the kept notifications mean: at first those that an earlier run left, then each new one as it comes.
package final class NotificationProcessor: Sendable {
    /// How many notifications are looked at together.
    static let batchSize = 200
    /// How many are applied at the same time, so that their commits share one write to the disk.
    static let concurrency = 16
    /// The source of a withdrawal that Apple told us of.
    package static let rescindConsent = "RESCIND_CONSENT"

    private let store: any NotificationStore
    private let inference: LinkInference
    private let consent: ConsentService
    private let snapshots: SnapshotCache
    private let makeID: @Sendable (Date) -> String
    private let clock: ServiceClock
    private let logger: Logger
    private let signal = WakeSignal()

    /// - Parameters:
    ///   - store: keeps the notifications.
    ///   - links: tells which users are known.
    ///   - memory: tells which transactions an Apple Account has.
    ///   - consent: takes back what `RESCIND_CONSENT` withdraws.
    ///   - snapshots: the lists that a reversed refund makes wrong.
    ///   - makeID: makes a case's id, ordered by the time given.
    ///   - clock: the clocks.
    ///   - logger: is told of what cannot be applied.
    package init(
        store: any NotificationStore, links: any LinkStore, memory: any TransactionMemory, consent: ConsentService,
        snapshots: SnapshotCache, makeID: @escaping @Sendable (Date) -> String, clock: ServiceClock, logger: Logger
    ) {
        self.store = store
        inference = LinkInference(links: links, memory: memory)
        self.consent = consent
        self.snapshots = snapshots
        self.makeID = makeID
        self.clock = clock
        self.logger = logger
    }

    /// Applies what is there until the task is cancelled.
    ///
    /// To be called once.
    package func run() async {
        var backlog = NotificationBacklog(logger: logger)
        while !Task.isCancelled {
            let pause = await work(off: &backlog)
            await signal.wait(atMost: pause, by: clock)
        }
    }

    /// Lets the loop look for new notifications; quick, and several calls may count as one.
    package func kick() { signal.wake() }

    /// Applies what is due.
    ///
    /// - Returns: how long the loop can wait if nobody kicks it; nil for as long as it likes.
    private func work(off backlog: inout NotificationBacklog) async -> Duration? {
        while !Task.isCancelled {
            let limit = Self.batchSize + backlog.postponedCount
            let batch: [StoredNotification]
            do throws(ServiceError) {
                batch = try await store.unprocessedNotifications(limit: limit)
            } catch {
                // A cancelled task's question fails, whatever the store.
                return Task.isCancelled ? nil : backlog.storeFailed(error)
            }
            let due = backlog.due(batch, isAll: batch.count < limit, at: clock.monotonicNow())
            guard !due.isEmpty else { break }
            // What a purchase in the same batch tells of an Apple Account counts when its consent is rescinded.
            let rescissions = due.filter { $0.notification.notificationType == Self.rescindConsent }
            let others = due.filter { $0.notification.notificationType != Self.rescindConsent }
            let failures = await apply(others) + apply(rescissions)
            guard !Task.isCancelled else { return nil }
            if let pause = backlog.applied(due.count, failures, at: clock.monotonicNow()) { return pause }
        }
        return backlog.pause(at: clock.monotonicNow())
    }

    /// Applies notifications, those about one transaction in their order.
    ///
    /// - Returns: those that could not be applied.
    private func apply(_ due: [StoredNotification]) async -> [NotificationBacklog.Failure] {
        let groups = Dictionary(grouping: due) { stored in
            stored.notification.transaction?.transactionID ?? stored.notification.notificationUUID
        }
        return await withTaskGroup(of: [NotificationBacklog.Failure].self) { tasks in
            var failures: [NotificationBacklog.Failure] = []
            for (index, group) in groups.values.enumerated() {
                if index >= Self.concurrency, let ended = await tasks.next() { failures += ended }
                tasks.addTask {
                    var failures: [NotificationBacklog.Failure] = []
                    for stored in group {
                        do throws(ServiceError) {
                            try await self.apply(stored)
                        } catch {
                            failures.append(NotificationBacklog.Failure(notification: stored, error: error))
                        }
                    }
                    return failures
                }
            }
            for await ended in tasks { failures += ended }
            return failures
        }
    }
}

// MARK: One notification

extension NotificationProcessor {
    private func apply(_ stored: StoredNotification) async throws(ServiceError) {
        let notification = stored.notification
        if notification.notificationType == Self.rescindConsent { try await withdrawConsent(stored) }
        let now = clock.now()
        _ = try await store.process(
            stored, notice: CaseRules.Notice(stored), links: try await inference.links(in: stored, at: now),
            newCaseID: makeID(now), at: now)
        if notification.notificationType == "REFUND_REVERSED" { snapshots.drop(app: stored.app) }
    }

    /// Withdraws for every user whom the Apple Account is known to belong to, before the notification counts as applied.
    private func withdrawConsent(_ stored: StoredNotification) async throws(ServiceError) {
        let notification = stored.notification
        guard let account = notification.appTransactionID else {
            logger.error(
                "A RESCIND_CONSENT names no Apple Account; nobody's consent is withdrawn",
                metadata: ["app": "\(stored.app)", "notification": "\(notification.notificationUUID)"])
            return
        }
        let users = try await inference.users(of: account, app: stored.app, notification.environment)
        for user in users {
            try await consent.withdraw(
                app: stored.app, user: user, source: Self.rescindConsent, at: notification.signedAt ?? stored.receivedAt
            )
        }
        logger.notice(
            "Apple has rescinded a consent",
            metadata: [
                "app": "\(stored.app)", "notification": "\(notification.notificationUUID)", "users": "\(users.count)",
            ])
    }
}

extension CaseRules.Notice {
    /// What a notification says of a refund; nil when it says nothing, or not of which transaction.
    init?(_ stored: StoredNotification) {
        let notification = stored.notification
        guard let transaction = notification.transaction,
            let message = CaseRules.Message(
                type: notification.notificationType, consumptionRequestReason: notification.consumptionRequestReason)
        else { return nil }
        self.init(
            message: message, notificationUUID: notification.notificationUUID, app: stored.app,
            purchase: transaction.facts, signedAt: notification.signedAt ?? transaction.signedDate,
            receivedAt: stored.receivedAt)
    }
}
