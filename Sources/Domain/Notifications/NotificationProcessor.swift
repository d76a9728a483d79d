package import Foundation
package import Logging

/// Applies what the kept notifications mean: at first those that an earlier run left, then each new one as it comes.
///
/// The apps take turns in each batch, so that what comes for one is applied with the next batch, however many wait of another.
package final class NotificationProcessor: Sendable {
    /// How many notifications are looked at together.
    static let batchSize = 200
    /// How many are applied at the same time, so that their commits share one write to the disk.
    static let concurrency = 16
    /// How many of one transaction, which go one after the other, are applied in a batch: it must not last long, as what comes
    /// meanwhile waits for its end.
    static let longestSequence = 16
    /// After how long nothing more of a batch is taken up: a slow disk must not make it last longer.
    static let batchTime = Duration.milliseconds(250)

    private let store: any NotificationStore
    private let ending: DeliveryEnding
    private let snapshots: SnapshotCache
    private let makeID: @Sendable (Date) -> String
    private let clock: ServiceClock
    private let logger: Logger
    private let signal = WakeSignal()

    /// - Parameters:
    ///   - store: keeps the notifications.
    ///   - ending: ends what is being handed to Apple and must not be any more.
    ///   - snapshots: the lists that a reversed refund makes wrong.
    ///   - makeID: makes a case's id, ordered by the time given.
    ///   - clock: the clocks.
    ///   - logger: is told of what cannot be applied.
    package init(
        store: any NotificationStore, ending: DeliveryEnding,
        snapshots: SnapshotCache, makeID: @escaping @Sendable (Date) -> String, clock: ServiceClock, logger: Logger
    ) {
        self.store = store
        self.ending = ending
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
        var lastApp = ""
        while !Task.isCancelled {
            let batch: [StoredNotification]
            let now = clock.monotonicNow()
            do throws(ServiceError) {
                batch = try await store.unprocessedNotifications(
                    limit: Self.batchSize, leavingOut: backlog.waiting(at: now), behind: lastApp)
            } catch {
                // A cancelled task's question fails, whatever the store.
                return Task.isCancelled ? nil : backlog.storeFailed(error)
            }
            let isAll = batch.count < Self.batchSize
            backlog.found(batch, isAll: isAll, at: now)
            guard !batch.isEmpty else { break }
            let (applied, failures) = await apply(Self.sequences(batch), until: now + Self.batchTime)
            lastApp = applied.last?.app ?? lastApp
            guard !Task.isCancelled else { return nil }
            if let pause = backlog.applied(applied, failures, at: clock.monotonicNow()) {
                return pause
            }
        }
        return backlog.pause(at: clock.monotonicNow())
    }

    /// A batch by what goes one after the other: notifications about one transaction.
    ///
    /// The rest of a long sequence is left for a later batch.
    private static func sequences(_ batch: [StoredNotification]) -> [[StoredNotification]] {
        struct Subject: Hashable {
            let app: String
            let id: String
        }
        var sequences: [[StoredNotification]] = []
        var places: [Subject: Int] = [:]
        for stored in batch {
            let id = stored.notification.transaction?.transactionID ?? stored.notification.notificationUUID
            let place = places[Subject(app: stored.app, id: id), default: sequences.count]
            if place == sequences.count {
                places[Subject(app: stored.app, id: id)] = place
                sequences.append([stored])
            } else if sequences[place].count < longestSequence {
                sequences[place].append(stored)
            }
        }
        return sequences
    }

    /// Applies sequences of notifications, several at the same time.
    ///
    /// `end`: when no more of them is begun.
    ///
    /// - Returns: those that were looked at, and those of them that could not be applied.
    private func apply(
        _ sequences: [[StoredNotification]], until end: ContinuousClock.Instant
    ) async -> ([StoredNotification], [NotificationBacklog.Failure]) {
        await withTaskGroup(of: [NotificationBacklog.Failure].self) { tasks in
            var begun: [StoredNotification] = []
            var failures: [NotificationBacklog.Failure] = []
            for (index, sequence) in sequences.enumerated() {
                if index >= Self.concurrency {
                    if let ended = await tasks.next() { failures += ended }
                    if clock.monotonicNow() >= end { break }
                }
                begun += sequence
                tasks.addTask {
                    var failures: [NotificationBacklog.Failure] = []
                    for stored in sequence {
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
            return (begun, failures)
        }
    }
}

// MARK: One notification

extension NotificationProcessor {
    /// Applies a notification at once, however long its next try would be away; one that is applied already changes nothing.
    ///
    /// - Throws: what keeps it from being applied.
    func apply(_ stored: StoredNotification) async throws(ServiceError) {
        let notification = stored.notification
        let now = clock.now()
        let applied = try await store.process(stored, newCaseID: makeID(now), at: now)
        await ending.carryOutHere(applied.ended)
        if notification.notificationType == "REFUND_REVERSED" { snapshots.drop(app: stored.app) }
        guard notification.isRescission else { return }
        if notification.appTransactionID == nil {
            logger.error(
                "A RESCIND_CONSENT names no Apple Account; nothing is stopped by it",
                metadata: ["app": "\(stored.app)", "notification": "\(notification.notificationUUID)"])
        } else {
            logger.notice(
                "A guardian has rescinded consent for an Apple Account",
                metadata: ["app": "\(stored.app)", "notification": "\(notification.notificationUUID)"])
        }
    }
}

extension AppleNotification {
    /// Whether a guardian takes back the consent to a child's use of the app.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    package var isRescission: Bool { notificationType == "RESCIND_CONSENT" }
}

extension CaseRules.Notice {
    /// What a notification says of a refund; nil when it says nothing, or not of which transaction.
    package init?(_ stored: StoredNotification) {
        let notification = stored.notification
        guard let transaction = notification.transaction,
            let message = CaseRules.Message(
                type: notification.notificationType, consumptionRequestReason: notification.consumptionRequestReason)
        else { return nil }
        self.init(
            message: message, notificationUUID: notification.notificationUUID, app: stored.app,
            purchase: transaction.facts, terms: transaction.details.terms,
            revocationPercentage: transaction.details.revocationPercentage,
            signedAt: notification.signedAt ?? transaction.signedDate,
            receivedAt: stored.receivedAt)
    }
}
