import Domain
import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport

/// The real store, some of whose operations can be made to fail or to wait.
final class FaultyStore: DeliveryStore, ConsentStore {
    enum Operation: Hashable, CaseIterable {
        case accept
        case claim
        case conclude
        case expire
        case recover
        case read
        case objection
        /// The end of an erasure, when the user is gone.
        case truncate
    }

    let store: SQLiteStore
    /// What has been claimed has to pass it before anybody learns of it.
    let claimed = Gate()
    /// Who has claimed all that there is has to pass it before it rests.
    let resting = Gate()
    /// A question for an objection has to pass it before it is put.
    let objections = Gate()
    private let failing = Mutex<Set<Operation>>([])

    init(_ store: SQLiteStore) { self.store = store }

    /// Makes operations fail without effect until `heal`.
    func fail(_ operations: Operation...) { failing.withLock { $0.formUnion(operations) } }

    func heal() { failing.withLock { $0 = [] } }

    private func check(_ operation: Operation) throws(ServiceError) {
        guard failing.withLock({ $0.contains(operation) }) else { return }
        throw ServiceError(.storeUnavailable, "The disk is full.")
    }
}

// MARK: Deliveries

extension FaultyStore {
    func delivery(
        for key: IdempotencyKey, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])? {
        try await store.delivery(for: key, at: now)
    }

    func remember(
        _ key: IdempotencyKey, requestDigest: [UInt8], deliveryID: String, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])? {
        try check(.accept)
        return try await store.remember(key, requestDigest: requestDigest, deliveryID: deliveryID, at: now)
    }

    func accept(
        _ draft: DeliveryDraft
    ) async throws(ServiceError) -> (decision: AcceptRules.Decision, ended: EndedDeliveries) {
        try check(.accept)
        return try await store.accept(draft)
    }

    func claimDeliveries(_ claim: DeliveryClaim) async throws(ServiceError) -> DeliveryClaim.Result {
        try check(.claim)
        let result = try await store.claimDeliveries(claim)
        if !result.deliveries.isEmpty { await claimed.pass() }
        return result
    }

    func nextDeliveryEvent(after now: Date) async throws(ServiceError) -> Date? {
        await resting.pass()
        return try await store.nextDeliveryEvent(after: now)
    }

    func conclude(_ conclusion: DeliveryConclusion) async throws(ServiceError) -> Delivery? {
        try check(.conclude)
        return try await store.conclude(conclusion)
    }

    func recoverDeliveries(worker: String, at now: Date) async throws(ServiceError) -> Int {
        try check(.recover)
        return try await store.recoverDeliveries(worker: worker, at: now)
    }

    func expireDeliveries(at now: Date, limit: Int) async throws(ServiceError) -> [Delivery] {
        try check(.expire)
        return try await store.expireDeliveries(at: now, limit: limit)
    }

    func delivery(app: String, id: String) async throws(ServiceError) -> Delivery? {
        try check(.read)
        return try await store.delivery(app: app, id: id)
    }

    func deliveries(app: String, _ query: DeliveryQuery) async throws(ServiceError) -> [Delivery] {
        try await store.deliveries(app: app, query)
    }

    func cancelDelivery(
        app: String, id: String, because failure: DeliveryFailure, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, isChanged: Bool)? {
        try await store.cancelDelivery(app: app, id: id, because: failure, at: now)
    }

    func hastenDeliveries(after latest: Date, at now: Date, limit: Int) async throws(ServiceError) -> Int {
        try await store.hastenDeliveries(after: latest, at: now, limit: limit)
    }

    func moveDeliveries(_ deliveries: [DeliveryTimeShift], at now: Date) async throws(ServiceError) {
        try await store.moveDeliveries(deliveries, at: now)
    }

    func deliveryBacklog() async throws(ServiceError) -> [DeliveryBacklog] { try await store.deliveryBacklog() }

    func sendingHold() async throws(ServiceError) -> SendingHold? { try await store.sendingHold() }

    func releaseSending(by operatorName: String, at now: Date) async throws(ServiceError) -> SendingHold? {
        try await store.releaseSending(by: operatorName, at: now)
    }
}

// MARK: Consent

extension FaultyStore {
    func recordConsent(_ record: ConsentRecord) async throws(ServiceError) -> EndedDeliveries {
        try await store.recordConsent(record)
    }

    func consentHistory(app: String, user: UserID) async throws(ServiceError) -> [ConsentRecord] {
        try await store.consentHistory(app: app, user: user)
    }

    func rescissions(app: String, user: UserID) async throws(ServiceError) -> [GuardianRescission] {
        try await store.rescissions(app: app, user: user)
    }

    func owner(of subject: ConsentSubject) async throws(ServiceError) -> UserID? {
        try check(.objection)
        return try await store.owner(of: subject)
    }

    func obstacle(
        to delivery: Delivery, at now: Date
    ) async throws(ServiceError) -> (obstacle: DeliveryFailure?, ended: EndedDeliveries) {
        await objections.pass()
        try check(.objection)
        return try await store.obstacle(to: delivery, at: now)
    }

    func mustKnowAccount(
        app: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> Bool {
        try await store.mustKnowAccount(app: app, environment: environment)
    }

    func eraseUser(app: String, user: UserID, at now: Date) async throws(ServiceError) -> ErasureReport {
        var report = try await store.eraseUser(app: app, user: user, at: now)
        do throws(ServiceError) { try check(.truncate) } catch { report.remains = error }
        return report
    }
}
