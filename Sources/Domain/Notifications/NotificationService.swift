import Foundation
package import Logging

/// Takes Apple's notifications in, and shows those that came.
///
/// Taking one in is to verify and to keep it, and nothing else; `NotificationProcessor` does the rest afterwards.
package struct NotificationService: Sendable {
    /// How many notifications are kept that Apple signed, but not for what the configuration names.
    package static let quarantineCapacity = 1000

    /// What became of a notification.
    package enum Receipt: Sendable, Equatable {
        /// It is kept now.
        case new(notificationUUID: String)
        /// It was kept before.
        case known(notificationUUID: String)
    }

    private let verifier: any NotificationVerifier
    private let store: any NotificationStore
    private let processor: NotificationProcessor
    private let retention: Duration
    private let now: WallClock
    private let alarm: QuarantineAlarm

    /// - Parameters:
    ///   - verifier: tells whether Apple signed a notification.
    ///   - store: keeps it.
    ///   - processor: is told of each new one.
    ///   - retention: how long notifications are kept; older ones are refused.
    ///   - now: the time of day.
    ///   - logger: is told of what Apple signed for others.
    package init(
        verifier: any NotificationVerifier, store: any NotificationStore, processor: NotificationProcessor,
        retention: Duration = RetentionPolicy().notifications, now: @escaping WallClock, logger: Logger
    ) {
        self.verifier = verifier
        self.store = store
        self.processor = processor
        self.retention = retention
        self.now = now
        alarm = QuarantineAlarm(logger: logger)
    }

    /// Verifies a signed notification and keeps it durably.
    ///
    /// - Parameters:
    ///   - signed: Apple's `signedPayload` (compact JWS).
    ///   - app: in whose name it came.
    ///   - source: how it came.
    /// - Returns: what became of it.
    /// - Throws: `signatureInvalid`, `environmentNotSupported`, `verificationBusy`, `notificationTooOld`,
    ///   `storeUnavailable`; `notificationMisdirected` once it is in quarantine.
    package func receive(
        _ signed: String, app: App, source: NotificationSource
    ) async throws(ServiceError) -> Receipt {
        let notification: AppleNotification
        do throws(ServiceError) {
            notification = try await verifier.notification(signed, app: app)
        } catch {
            if error.reason == .notificationMisdirected { try await quarantine(signed, app, error) }
            throw error
        }
        let receivedAt = now()
        guard !isTooOld(notification, at: receivedAt) else {
            throw ServiceError(
                .notificationTooOld, "Apple signed this notification longer ago than notifications are kept.")
        }
        let isNew = try await store.record(
            StoredNotification(app: app.slug, notification: notification, source: source, receivedAt: receivedAt))
        guard isNew else { return .known(notificationUUID: notification.notificationUUID) }
        processor.kick()
        return .new(notificationUUID: notification.notificationUUID)
    }

    /// A notification of an app.
    ///
    /// - Throws: `notificationNotFound`, `storeUnavailable`.
    package func notification(app: App, uuid: String) async throws(ServiceError) -> StoredNotification {
        guard let stored = try await store.notification(app: app.slug, uuid: uuid) else {
            throw ServiceError(
                .notificationNotFound,
                "The app has no notification under this UUID; it may have been removed after its retention.")
        }
        return stored
    }

    /// A page of an app's notifications, latest recorded first, with the position of each.
    ///
    /// - Throws: `storeUnavailable`.
    package func notifications(
        app: App, _ query: NotificationQuery
    ) async throws(ServiceError) -> [(position: Int64, notification: StoredNotification)] {
        try await store.notifications(app: app.slug, query)
    }

    private func isTooOld(_ notification: AppleNotification, at now: Date) -> Bool {
        guard let signedAt = notification.signedAt else { return false }
        return now.timeIntervalSince(signedAt) > TimeInterval(retention.components.seconds)
    }

    private func quarantine(_ signed: String, _ app: App, _ error: ServiceError) async throws(ServiceError) {
        let fault = error.cause ?? error.message
        alarm.raise(app: app.slug, fault: fault, at: ContinuousClock.now)
        try await store.quarantine(
            QuarantinedNotification(
                app: app.slug, notificationUUID: nil, fault: fault, receivedAt: now(), signed: signed),
            keeping: Self.quarantineCapacity)
    }
}

extension AppleNotification {
    /// When Apple signed it, if it says so.
    var signedAt: Date? { signedDate.map { Date(timeIntervalSince1970: TimeInterval($0) / 1000) } }
}
