import Domain
import Foundation
import HTTPAPI
import Logging
import StoreSQLite
import Synchronization
import TestSupport

/// Every service behind the faces, over a real store in a folder of its own and a fake App Store, with what works in the
/// background at work; gone when the test is.
final class ServiceStack: Sendable {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    let gateway: FakeAppStoreGateway
    let verifier = FakeNotificationVerifier()
    let store: SQLiteStore
    let services: APIServices
    private let folder: URL
    private let work: [Task<Void, Never>]

    /// `consumptionWait`: by a real clock, so long that a slow machine makes no difference unless a test is about it.
    init(
        apps: AppCatalog, accounts: [[Transaction]] = [], pageSize: Int = 20, consumptionWait: Duration = .seconds(600)
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "purser-http-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try await SQLiteStore.open(at: folder.appending(path: "purser.db").path) { key in
            TombstoneHasher { authenticationCode(key + $0) }
        }
        gateway = FakeAppStoreGateway(accounts: accounts, pageSize: pageSize)
        let parts = Parts(
            apps: apps, gateway: gateway, verifier: verifier, store: store, consumptionWait: consumptionWait)
        services = parts.services
        work = [
            Task { await parts.dispatcher.run() }, Task { await parts.processor.run() },
            Task { await parts.services.events.run() },
        ]
    }

    deinit {
        for task in work { task.cancel() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Keeps a notification as if it had come, and waits until its effects are there.
    func receive(_ notification: StoredNotification) async throws {
        verifier.know(notification.notification)
        _ = try await services.notifications.receive(
            notification.notification.signed, app: try services.apps.app(notification.app), source: .webhook)
        let uuid = notification.notification.notificationUUID
        while try await store.notification(app: notification.app, uuid: uuid)?.processedAt == nil {
            await Task.yield()
        }
    }

    /// A delivery once it is as described.
    func delivery(_ id: String, when isReached: (Delivery) -> Bool) async throws -> Delivery {
        while true {
            if let delivery = try await store.delivery(app: "coins", id: id), isReached(delivery) { return delivery }
            await Task.yield()
        }
    }
}

/// How the services are put together.
private struct Parts {
    let services: APIServices
    let dispatcher: DeliveryDispatcher
    let processor: NotificationProcessor

    init(
        apps: AppCatalog, gateway: FakeAppStoreGateway, verifier: FakeNotificationVerifier, store: SQLiteStore,
        consumptionWait: Duration
    ) {
        let now: WallClock = { ServiceStack.now }
        let clock = ServiceClock(now: now)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let tokens = PageTokenCoder(
            authenticationCode: authenticationCode, encode: { Data($0).base64EncodedString() },
            decode: { Data(base64Encoded: $0).map(Array.init) })
        let snapshots = SnapshotCache(lifetime: .seconds(600), maximumBytes: 1_000_000)
        let (transfers, outcomes) = (TransfersUnderWay(), OutcomeBoard())
        let makeID = Self.counter()
        let dispatcher = DeliveryDispatcher(
            DeliveryParts(
                store: store, consent: store, links: store, gateway: gateway, apps: apps, transfers: transfers,
                outcomes: outcomes, clock: clock, logger: logger),
            worker: "worker")
        let consent = ConsentService(store: store, transfers: transfers, outcomes: outcomes, now: now)
        let processor = NotificationProcessor(
            store: store, links: store, memory: store, consent: consent, snapshots: snapshots, makeID: makeID,
            clock: clock,
            logger: logger)
        self.dispatcher = dispatcher
        self.processor = processor
        services = APIServices(
            apps: apps, gateway: gateway,
            consumption: ConsumptionService(
                gateway: gateway, deliveries: store, cases: store, links: store, outcomes: outcomes,
                kick: { dispatcher.kick(for: $0) }, clock: clock, makeID: makeID, digest: { $0 }, logger: logger),
            consumptionWait: consumptionWait,
            deliveries: DeliveryService(store: store, transfers: transfers, outcomes: outcomes, now: now),
            cases: CaseService(store: store, deliveries: store, transfers: transfers, now: now),
            consent: consent,
            notifications: NotificationService(
                verifier: verifier, store: store, processor: processor, now: now, logger: logger),
            events: EventFeed(store: store, bell: store.bell), pageTokens: tokens,
            overview: UserOverviewService(gateway: gateway, links: store, memory: store, now: now),
            purchases: UserPurchasesService(
                gateway: gateway, links: store, memory: store, snapshots: snapshots, tokens: tokens, now: now,
                makeSnapshotID: { UUID().uuidString }),
            subscriptions: UserSubscriptionsService(gateway: gateway, links: store, memory: store, now: now),
            links: LinkService(store: store, now: now), budgets: Self.budgets(now), now: now)
    }

    private static func budgets(_ now: @escaping WallClock) -> RateBudgets {
        RateBudgets(
            policy: RatePolicy(
                limits: [.production: ["Get Refund History": RateLimit(callsPerHour: 1000, reservedPercent: 20)]],
                quotas: ["billing": 500]),
            clock: BudgetClock(now: now))
    }

    /// Ids in the order in which they are asked for.
    private static func counter() -> @Sendable (Date) -> String {
        let last = Mutex(0)
        return { _ in
            let number = last.withLock { last in
                last += 1
                return last
            }
            return "018c0000-0000-7000-8000-" + String(String(number + 1_000_000_000_000).dropFirst())
        }
    }
}

/// Stands in for HMAC-SHA-256: FNV-1a, repeated to the same length.
@Sendable private func authenticationCode(_ content: [UInt8]) -> [UInt8] {
    let hash = content.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return (0..<32).map { UInt8(truncatingIfNeeded: hash >> (UInt64($0 % 8) * 8)) }
}

/// Takes for Apple's what it has been told of, and fails as it is told.
final class FakeNotificationVerifier: NotificationVerifier {
    private let answers = Mutex<[String: Result<AppleNotification, ServiceError>]>([:])

    /// Lets a notification be Apple's.
    func know(_ notification: AppleNotification) {
        answers.withLock { $0[notification.signed] = .success(notification) }
    }

    /// Lets what is signed so fail.
    func fail(_ signed: String, with error: ServiceError) { answers.withLock { $0[signed] = .failure(error) } }

    func notification(_ signed: String, app: App) async throws(ServiceError) -> AppleNotification {
        guard let answer = answers.withLock({ $0[signed] }) else {
            throw ServiceError(.signatureInvalid, "Apple did not sign this.", cause: "signature")
        }
        return try answer.get()
    }
}
