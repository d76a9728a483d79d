import Domain
import Foundation
import Synchronization

/// What a search of Apple's history needs of a store, in memory; it tells when each notification came.
final class HistoryRecords: NotificationStore, QuarantineStore {
    private struct State {
        var recorded: [String: Date] = [:]
        var progress: [AppEnvironment: HistoryProgress] = [:]
    }

    private let state = Mutex(State())

    /// When each notification came, by app and UUID.
    var recorded: [String: Date] { state.withLock(\.recorded) }

    /// Up to when everything was looked for, of how many apps.
    func completeCount(in environment: AppStoreEnvironment) -> Int {
        state.withLock { $0.progress.count { $0.key.environment == environment && $0.value.completeUntil != nil } }
    }

    func record(_ notification: StoredNotification) async throws(ServiceError) -> Bool {
        state.withLock { state in
            let key = "\(notification.app) \(notification.notification.notificationUUID)"
            guard state.recorded[key] == nil else { return false }
            state.recorded[key] = notification.receivedAt
            return true
        }
    }

    func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress? {
        state.withLock { $0.progress[AppEnvironment(app: app, environment: environment)] }
    }

    func saveHistoryProgress(
        _ progress: HistoryProgress, replacing known: HistoryProgress?, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> Bool {
        state.withLock { $0.progress[AppEnvironment(app: app, environment: environment)] = progress }
        return true
    }

    // MARK: What no search asks

    private static let notPlayed = ServiceError(.internalError, "not played")

    func unprocessedNotifications(
        limit: Int, leavingOut leftOut: Set<NotificationKey>, behind app: String
    ) async throws(ServiceError) -> [StoredNotification] {
        throw Self.notPlayed
    }

    func process(
        _ notification: StoredNotification, newCaseID: String, at now: Date
    ) async throws(ServiceError) -> AppliedNotification { throw Self.notPlayed }

    func notification(app: String, uuid: String) async throws(ServiceError) -> StoredNotification? {
        throw Self.notPlayed
    }

    func notifications(
        app: String, _ query: NotificationQuery
    ) async throws(ServiceError) -> [(position: Int64, notification: StoredNotification)] { throw Self.notPlayed }

    func quarantine(
        _ notification: QuarantinedNotification, within bound: QuarantineBound
    ) async throws(ServiceError) -> QuarantineReceipt { throw Self.notPlayed }

    func quarantined(
        after position: Int64, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, notification: QuarantinedNotification)] {
        throw Self.notPlayed
    }

    func quarantineTried(
        _ tries: [(position: Int64, fault: String, namesOurs: Bool)], at now: Date
    ) async throws(ServiceError) {
        throw Self.notPlayed
    }

    func release(_ position: Int64, as notification: StoredNotification) async throws(ServiceError) -> Bool {
        throw Self.notPlayed
    }

    func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?) { throw Self.notPlayed }
}
