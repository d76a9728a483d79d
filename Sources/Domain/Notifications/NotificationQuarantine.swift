import Foundation
package import Logging
import Synchronization

/// Keeps what does not verify as an app's, and verifies it anew: at the start, each day and when the configuration changes.
///
/// Our configuration may be what is wrong. Once one verifies, it becomes a notification like any other.
package final class NotificationQuarantine: Sendable {
    /// Of those that were sent to us.
    ///
    /// The owner of any app can make Apple sign as many as they like. So strangers' have a quarter of the places, and are removed
    /// first.
    static let boundOfSent = QuarantineBound(perApp: 200, inAll: 2_000, strangersPerApp: 50, strangersInAll: 500)
    /// The longest of a stranger's, in bytes: all of them have at most 64 MB together.
    static let maximumStrangerBytes = 128 << 10
    /// Of those in Apple's history, which holds our apps' alone.
    ///
    /// One takes some 6 KB.
    static let boundOfHistory = QuarantineBound(perApp: 1_000, inAll: 20_000)
    /// How often all of them are verified anew.
    static let interval = Duration.seconds(86_400)
    /// The next time after one that did not get through.
    static let retryInterval = Duration.seconds(300)
    /// How many are read at once.
    static let batchSize = 50

    private let verifier: any NotificationVerifier
    private let store: any QuarantineStore
    private let processor: NotificationProcessor
    private let apps: AppCatalog
    private let retention: Duration
    private let clock: ServiceClock
    private let logger: Logger
    private let alarm: QuarantineAlarm
    private let signal = WakeSignal()

    /// - Parameters:
    ///   - verifier: tells whether Apple signed a notification, and for whom.
    ///   - store: keeps them.
    ///   - processor: is told of each that has become a notification.
    ///   - apps: as they are configured now.
    ///   - retention: how long notifications are kept.
    ///   - clock: the clocks.
    ///   - logger: is told of what came for others, and of what verifies at last.
    package init(
        verifier: any NotificationVerifier, store: any QuarantineStore, processor: NotificationProcessor,
        apps: AppCatalog, retention: Duration, clock: ServiceClock, logger: Logger
    ) {
        self.verifier = verifier
        self.store = store
        self.processor = processor
        self.apps = apps
        self.retention = retention
        self.clock = clock
        self.logger = logger
        alarm = QuarantineAlarm(logger: logger)
    }

    // MARK: Keeping

    /// Keeps a notification that somebody sent us and Apple signed, but not for this app as it is configured.
    ///
    /// - Throws: `storeUnavailable`.
    func keep(
        _ signed: String, sentTo app: App, as source: NotificationSource, _ error: ServiceError
    ) async throws(ServiceError) {
        let fault = error.cause ?? error.message
        alarm.raise(app: app.slug, fault: fault, at: clock.monotonicNow())
        let notification = quarantined(
            signed, app, verifier.claims(of: signed), namesOurs: namesOurs(signed), fault, source)
        guard notification.isToBeKept else { return }
        guard notification.namesOurs || signed.utf8.count <= Self.maximumStrangerBytes else { return }
        _ = try await store.quarantine(notification, within: Self.boundOfSent)
    }

    /// Keeps a notification of an app's history that does not verify.
    ///
    /// - Returns: what became of it; `refused` when a later search of the history must find it again.
    /// - Throws: `storeUnavailable`.
    func keep(
        _ unverified: UnverifiedNotification, of app: App, in environment: AppStoreEnvironment
    ) async throws(ServiceError) -> QuarantineReceipt {
        var claims = unverified.claims
        // Which history it stands in is known, whatever it says.
        claims.environment = environment
        // Apple's history of an app holds that app's alone.
        let notification = quarantined(
            unverified.signed, app, claims, namesOurs: true, unverified.fault, .history)
        guard !unverified.signed.isEmpty, notification.isToBeKept else { return .known }
        return try await store.quarantine(notification, within: Self.boundOfHistory)
    }

    /// Whether a signed notification names the bundle id of a configured app, unverified.
    private func namesOurs(_ signed: String) -> Bool {
        guard let bundleID = verifier.subject(of: signed).bundleID else { return false }
        return apps.all.contains { $0.bundleID == bundleID }
    }

    private func quarantined(
        _ signed: String, _ app: App, _ claims: NotificationClaims, namesOurs: Bool, _ fault: String,
        _ source: NotificationSource
    ) -> QuarantinedNotification {
        let now = clock.receipt(signedAt: claims.signedAt)
        // Who names no environment has the longer time.
        let days = NotificationHistoryQuery.windowDays(in: claims.environment ?? .production)
        let leavesHistory = min(claims.signedAt ?? now, now).advanced(by: .seconds(days * 86_400))
        return QuarantinedNotification(
            app: app.slug, claims: claims, namesOurs: namesOurs, fault: fault, source: source, receivedAt: now,
            keptUntil: min(leavesHistory, now.advanced(by: retention)), signed: signed)
    }
}

extension QuarantinedNotification {
    /// Whether it came before its end.
    fileprivate var isToBeKept: Bool { keptUntil > receivedAt }
}

// MARK: Verifying anew

extension NotificationQuarantine {
    private enum Verdict {
        case released(isNew: Bool)
        case failed(fault: String)
        /// It could not be looked at now.
        case postponed
    }

    /// Verifies all of them anew, now and then, until the task is cancelled.
    ///
    /// To be called once.
    package func run() async {
        while !Task.isCancelled {
            // What becomes a notification now came now.
            await clock.whenCertain()
            let isThrough = await retry()
            await signal.wait(atMost: isThrough ? Self.interval : Self.retryInterval, by: clock)
        }
    }

    /// Those behind a position, oldest first.
    ///
    /// - Throws: `storeUnavailable`.
    package func list(
        after position: Int64, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, notification: QuarantinedNotification)] {
        try await store.quarantined(after: position, limit: limit)
    }

    /// One of them, with what it says it is about.
    ///
    /// - Throws: `notificationNotFound`, `storeUnavailable`.
    package func entry(
        at position: Int64
    ) async throws(ServiceError) -> (notification: QuarantinedNotification, subject: NotificationSubject) {
        guard position > 0, let found = try await store.quarantined(after: position - 1, limit: 1).first,
            found.position == position
        else {
            throw ServiceError(
                .notificationNotFound, "No notification in quarantine has this id; `GET /v1/quarantine` lists them.")
        }
        return (found.notification, verifier.subject(of: found.notification.signed))
    }

    /// Verifies all of them anew as soon as the loop gets to it.
    package func retrySoon() { signal.wake() }

    /// Verifies each of them anew.
    ///
    /// - Returns: whether each could be looked at.
    private func retry() async -> Bool {
        var released: [String: Int] = [:]
        var isThrough = true
        var position: Int64 = 0
        do throws(ServiceError) {
            while !Task.isCancelled {
                let batch = try await store.quarantined(after: position, limit: Self.batchSize)
                guard let last = batch.last else { break }
                position = last.position
                var failed: [(position: Int64, fault: String, namesOurs: Bool)] = []
                for (position, notification) in batch where !Task.isCancelled {
                    switch try await verify(notification, at: position) {
                    case .released(let isNew): released[notification.app, default: 0] += isNew ? 1 : 0
                    case .failed(let fault):
                        // The configuration may name other apps than when it came.
                        let namesOurs = notification.source == .history || namesOurs(notification.signed)
                        failed.append((position, fault, namesOurs))
                    case .postponed: isThrough = false
                    }
                }
                try await store.quarantineTried(failed, at: clock.now())
            }
        } catch {
            isThrough = false
            if !Task.isCancelled {
                logger.error(
                    "What is in quarantine could not be verified anew; it is tried again later",
                    metadata: ["cause": "\(error.cause ?? error.message)"])
            }
        }
        for (app, count) in released.sorted(by: { $0.key < $1.key }) where count > 0 {
            logger.notice(
                "What was in quarantine verifies now, and is applied",
                metadata: ["app": "\(app)", "notifications": .stringConvertible(count)])
        }
        return isThrough
    }

    private func verify(
        _ quarantined: QuarantinedNotification, at position: Int64
    ) async throws(ServiceError) -> Verdict {
        let notification: AppleNotification
        do throws(ServiceError) {
            notification = try await verifier.notification(
                quarantined.signed, app: apps.app(quarantined.app), for: .known(.daemon))
        } catch {
            return error.reason == .verificationBusy ? .postponed : .failed(fault: error.cause ?? error.message)
        }
        let isNew = try await store.release(
            position,
            as: StoredNotification(
                app: quarantined.app, notification: notification, source: quarantined.source,
                receivedAt: clock.receipt(signedAt: notification.signedAt)))
        if isNew { processor.kick() }
        return .released(isNew: isNew)
    }
}

/// Tells the operator of notifications that Apple signed for others: for each app at once, then at most once a minute, as
/// whoever has an app of his own can make Apple sign as many as he likes.
final class QuarantineAlarm: Sendable {
    private struct Silence {
        var until: ContinuousClock.Instant
        var suppressed = 0
    }

    static let interval = Duration.seconds(60)

    private let logger: Logger
    /// By app; as many as are configured.
    private let silences = Mutex<[String: Silence]>([:])

    init(logger: Logger) { self.logger = logger }

    /// Logs an alarm unless there was one just now; the next one tells how many were not logged.
    func raise(app: String, fault: String, at now: ContinuousClock.Instant) {
        let suppressed: Int? = silences.withLock { silences in
            if let silence = silences[app], now < silence.until {
                silences[app]?.suppressed += 1
                return nil
            }
            let suppressed = silences[app]?.suppressed ?? 0
            silences[app] = Silence(until: now + Self.interval)
            return suppressed
        }
        guard let suppressed else { return }
        var metadata: Logger.Metadata = ["app": "\(app)", "fault": "\(fault)"]
        if suppressed > 0 { metadata["othersSinceLastAlarm"] = .stringConvertible(suppressed) }
        logger.error(
            "ALARM: Apple signed a notification that does not fit the configuration; it is in quarantine, and Apple is asked to repeat it",
            metadata: metadata)
    }
}
