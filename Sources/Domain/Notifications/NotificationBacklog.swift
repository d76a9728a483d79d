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
    private var postponed: [NotificationKey: Postponement] = [:]
    private var storeFailures = 0

    init(logger: Logger) { self.logger = logger }

    /// The notifications that wait for another try, which is not due yet.
    func waiting(at now: ContinuousClock.Instant) -> Set<NotificationKey> {
        Set(postponed.lazy.filter { $0.value.until > now }.map(\.key))
    }

    /// Takes note of what is due: what was postponed until then and is not among that is not to be processed any more.
    ///
    /// `isAll`: whether nothing else is due.
    mutating func found(_ due: [StoredNotification], isAll: Bool, at now: ContinuousClock.Instant) {
        guard isAll, !postponed.isEmpty else { return }
        let present = Set(due.map(\.key))
        postponed = postponed.filter { $0.value.until > now || present.contains($0.key) }
    }

    /// Takes note of how a batch went.
    ///
    /// - Returns: how long to wait because the store is out of order; nil when it is not.
    mutating func applied(
        _ batch: [StoredNotification], _ failures: [Failure], at now: ContinuousClock.Instant
    ) -> Duration? {
        if failures.count == batch.count, let first = failures.first?.error,
            failures.allSatisfy({ $0.error.reason == .storeUnavailable })
        {
            return storeFailed(first)
        }
        storeWorks()
        let failed = Set(failures.map(\.notification.key))
        for stored in batch where !failed.contains(stored.key) { postponed[stored.key] = nil }
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
        let key = failure.notification.key
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
