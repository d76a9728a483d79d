import Logging

/// What could not be applied yet: which notifications wait for another try, and whether the store is out of order.
///
/// A notification that fails while others succeed fails for its own sake, and waits; if nothing succeeds, the store is at
/// fault, and nothing counts against the notifications.
struct NotificationBacklog {
    /// A notification that could not be applied, and why.
    struct Failure: Sendable {
        let notification: StoredNotification
        let error: ServiceError
    }

    private struct Key: Hashable {
        let app: String
        let notificationUUID: String

        init(_ stored: StoredNotification) {
            app = stored.app
            notificationUUID = stored.notification.notificationUUID
        }
    }

    private struct Postponement {
        var attempts = 0
        var until: ContinuousClock.Instant
    }

    /// The first wait; each next one is twice as long.
    static let firstPause = Duration.seconds(1)
    /// The longest wait while the store is out of order.
    static let longestStorePause = Duration.seconds(30)
    /// The longest wait of a notification that fails for its own sake.
    static let longestPostponement = Duration.seconds(600)

    private let logger: Logger
    private var postponed: [Key: Postponement] = [:]
    private var storeFailures = 0

    init(logger: Logger) { self.logger = logger }

    /// How many notifications wait for another try.
    var postponedCount: Int { postponed.count }

    /// The notifications of a batch that do not wait.
    ///
    /// `isAll`: whether the batch holds all there are; what else was postponed is then forgotten.
    mutating func due(
        _ batch: [StoredNotification], isAll: Bool, at now: ContinuousClock.Instant
    ) -> [StoredNotification] {
        if isAll {
            let present = Set(batch.map(Key.init))
            postponed = postponed.filter { present.contains($0.key) }
        }
        return batch.filter { stored in postponed[Key(stored)].map { $0.until <= now } ?? true }
    }

    /// Takes note of how a batch went.
    ///
    /// - Returns: how long to wait because the store is out of order; nil when it is not.
    mutating func applied(
        _ count: Int, _ failures: [Failure], at now: ContinuousClock.Instant
    ) -> Duration? {
        if failures.count == count, let first = failures.first?.error,
            failures.allSatisfy({ $0.error.reason == .storeUnavailable })
        {
            return storeFailed(first)
        }
        storeWorks()
        for failure in failures { postpone(failure, now) }
        return nil
    }

    /// Takes note that the store does not answer.
    ///
    /// - Returns: how long to wait.
    mutating func storeFailed(_ error: ServiceError) -> Duration {
        if storeFailures == 0 {
            logger.error(
                "Notifications cannot be applied; they stay in the store until they can",
                metadata: ["cause": "\(error.cause ?? error.message)"])
        }
        storeFailures += 1
        return Self.pause(after: storeFailures, atMost: Self.longestStorePause)
    }

    /// How long until the next try of what was postponed; nil when nothing was.
    func pause(at now: ContinuousClock.Instant) -> Duration? {
        postponed.values.map(\.until).min().map { max(now.duration(to: $0), .zero) }
    }

    private mutating func storeWorks() {
        if storeFailures > 0 { logger.notice("Notifications can be applied again") }
        storeFailures = 0
    }

    private mutating func postpone(_ failure: Failure, _ now: ContinuousClock.Instant) {
        let key = Key(failure.notification)
        var postponement = postponed[key] ?? Postponement(until: now)
        if postponement.attempts == 0 {
            logger.error(
                "A notification could not be applied; it is tried again later",
                metadata: [
                    "app": "\(key.app)", "notification": "\(key.notificationUUID)",
                    "cause": "\(failure.error.cause ?? failure.error.message)",
                ])
        }
        postponement.attempts += 1
        postponement.until = now + Self.pause(after: postponement.attempts, atMost: Self.longestPostponement)
        postponed[key] = postponement
    }

    private static func pause(after failures: Int, atMost longest: Duration) -> Duration {
        min(firstPause * (1 << min(failures - 1, 16)), longest)
    }
}
