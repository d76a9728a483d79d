import Domain
import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport

/// The real store, some of whose operations on notifications can be made to fail.
final class FlakyNotificationStore: NotificationStore, QuarantineStore {
    enum Fault: Hashable {
        case record
        case read
        case process
        /// Applying one notification fails, for its own sake.
        case notification(String)
        case progress
    }

    let store: SQLiteStore
    private let faults = Mutex<Set<Fault>>([])
    private let failures = Mutex(0)
    private let processed = Mutex<[NotificationKey]>([])
    /// Where each notification passes before it is applied.
    let processing = Gate()

    /// Which notifications were to be applied, in the order in which that began.
    var processedOrder: [NotificationKey] { processed.withLock(\.self) }

    init(_ store: SQLiteStore) { self.store = store }

    /// Makes operations fail without effect until `heal`.
    func fail(_ new: Fault...) { faults.withLock { $0.formUnion(new) } }

    func heal() { faults.withLock { $0 = [] } }

    /// Returns once so many operations have failed.
    func hasFailed(_ count: Int) async throws {
        try await Wait.until("\(count) failures of the store") { failures.withLock(\.self) >= count }
    }

    private func check(_ fault: Fault) throws(ServiceError) {
        guard faults.withLock({ $0.contains(fault) }) else { return }
        failures.withLock { $0 += 1 }
        throw ServiceError(.storeUnavailable, "The disk is full.", cause: "disk full")
    }

    func record(_ notification: StoredNotification) async throws(ServiceError) -> Bool {
        try check(.record)
        return try await store.record(notification)
    }

    func quarantine(
        _ notification: QuarantinedNotification, within bound: QuarantineBound
    ) async throws(ServiceError) -> QuarantineReceipt {
        try check(.record)
        return try await store.quarantine(notification, within: bound)
    }

    func quarantined(
        after position: Int64, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, notification: QuarantinedNotification)] {
        try check(.read)
        return try await store.quarantined(after: position, limit: limit)
    }

    func quarantineTried(
        _ tries: [(position: Int64, fault: String, namesOurs: Bool)], at now: Date
    ) async throws(ServiceError) {
        try await store.quarantineTried(tries, at: now)
    }

    func release(_ position: Int64, as notification: StoredNotification) async throws(ServiceError) -> Bool {
        try check(.record)
        return try await store.release(position, as: notification)
    }

    func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?) {
        try await store.quarantineStatus()
    }

    func unprocessedNotifications(
        limit: Int, leavingOut leftOut: Set<NotificationKey>, behind app: String
    ) async throws(ServiceError) -> [StoredNotification] {
        try check(.read)
        return try await store.unprocessedNotifications(limit: limit, leavingOut: leftOut, behind: app)
    }

    func process(
        _ notification: StoredNotification, newCaseID: String, at now: Date
    ) async throws(ServiceError) -> AppliedNotification {
        await processing.pass()
        processed.withLock { $0.append(notification.key) }
        try check(.process)
        try check(.notification(notification.notification.notificationUUID))
        return try await store.process(notification, newCaseID: newCaseID, at: now)
    }

    func notification(app: String, uuid: String) async throws(ServiceError) -> StoredNotification? {
        try await store.notification(app: app, uuid: uuid)
    }

    func notifications(
        app: String, _ query: NotificationQuery
    ) async throws(ServiceError) -> [(position: Int64, notification: StoredNotification)] {
        try await store.notifications(app: app, query)
    }

    func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress? {
        try check(.progress)
        return try await store.historyProgress(app: app, environment: environment)
    }

    func saveHistoryProgress(
        _ progress: HistoryProgress, replacing known: HistoryProgress?, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> Bool {
        try check(.progress)
        return try await store.saveHistoryProgress(progress, replacing: known, app: app, environment: environment)
    }
}
