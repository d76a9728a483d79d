package import Foundation

/// Takes Apple's notifications in, and shows those that came.
///
/// Taking one in is to verify and to keep it, and nothing else; `NotificationProcessor` does the rest afterwards.
package struct NotificationService: Sendable {
    /// What became of a notification.
    package enum Receipt: Sendable, Equatable {
        /// It is kept now.
        case new(notificationUUID: String)
        /// It was kept before.
        case known(notificationUUID: String)
    }

    private let verifier: any NotificationVerifier
    private let store: any NotificationStore
    private let quarantine: NotificationQuarantine
    private let processor: NotificationProcessor
    private let retention: RetentionPolicy
    private let clock: ServiceClock

    /// - Parameters:
    ///   - verifier: tells whether Apple signed a notification.
    ///   - store: keeps it.
    ///   - quarantine: keeps what Apple signed for others.
    ///   - processor: is told of each new one.
    ///   - retention: how long notifications are kept; older ones are refused.
    ///   - clock: dates what comes in.
    package init(
        verifier: any NotificationVerifier, store: any NotificationStore, quarantine: NotificationQuarantine,
        processor: NotificationProcessor, retention: RetentionPolicy = RetentionPolicy(),
        clock: ServiceClock
    ) {
        self.verifier = verifier
        self.store = store
        self.quarantine = quarantine
        self.processor = processor
        self.retention = retention
        self.clock = clock
    }

    /// Verifies a signed notification and keeps it durably.
    ///
    /// - Parameters:
    ///   - signed: Apple's `signedPayload` (compact JWS).
    ///   - app: in whose name it came.
    ///   - source: how it came.
    ///   - requester: from whom, who pays with a share of the checks of unknown chains.
    /// - Returns: what became of it.
    /// - Throws: `signatureInvalid`, `environmentNotSupported`, `verificationBusy`, `notificationTooOld`,
    ///   `storeUnavailable`; `notificationMisdirected` once it is in quarantine.
    package func receive(
        _ signed: String, app: App, source: NotificationSource, for requester: Requester
    ) async throws(ServiceError) -> Receipt {
        let notification: AppleNotification
        do throws(ServiceError) {
            notification = try await verifier.notification(signed, app: app, for: requester)
        } catch {
            if error.reason == .notificationMisdirected {
                try await quarantine.keep(signed, sentTo: app, as: source, error)
            }
            throw error
        }
        let receivedAt = clock.receipt(signedAt: notification.signedAt)
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

    /// Applies a notification at once that waits for its next try, and tells what keeps it from being applied.
    ///
    /// - Returns: the notification as it is then.
    /// - Throws: `notificationNotFound`, `storeUnavailable`, and what keeps it from being applied.
    package func replay(app: App, uuid: String) async throws(ServiceError) -> StoredNotification {
        try await processor.apply(try await notification(app: app, uuid: uuid))
        return try await notification(app: app, uuid: uuid)
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
        return now.timeIntervalSince(signedAt) > retention.notifications(in: notification.environment) / .seconds(1)
    }
}

extension AppleNotification {
    /// When Apple signed it, if it says so.
    package var signedAt: Date? { signedDate.map(Date.init(milliseconds:)) }
}

/// Tells whether Apple signed a notification, without asking anybody.
package protocol NotificationVerifier: Sendable {
    /// Verifies and decodes a signed notification of an app; the environment is the one that it names.
    ///
    /// - Parameters:
    ///   - signed: the notification (compact JWS).
    ///   - app: whose it must be.
    ///   - requester: whose share of the checks it uses, where its certificate chain is unknown.
    /// - Returns: the notification.
    /// - Throws: `signatureInvalid` when Apple did not sign it; `notificationMisdirected` when Apple did, but not for this app
    ///   or an environment that it is configured for, or when something in it does not fit; `environmentNotSupported` for data that Xcode signed;
    ///   `verificationBusy` when too many unknown certificate chains are being checked already.
    func notification(
        _ signed: String, app: App, for requester: Requester
    ) async throws(ServiceError) -> AppleNotification

    /// What a signed notification says of itself, unverified; nothing where it cannot be read.
    func claims(of signed: String) -> NotificationClaims

    /// What a signed notification says it is about, unverified; nothing where it cannot be read.
    func subject(of signed: String) -> NotificationSubject
}
