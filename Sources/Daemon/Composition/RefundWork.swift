import AppStoreClient
import CoreMetrics
import Domain
import Foundation
import Logging
import OpenSSL
import ServiceLifecycle
import StoreSQLite
import Systemd

/// The parts that answer Apple's refund requests: from the notification that opens a case to the answer that Apple accepts.
struct RefundWork: Sendable {
    let consumption: ConsumptionService
    let deliveries: DeliveryService
    let cases: CaseService
    let consent: ConsentService
    let notifications: NotificationService
    let dispatcher: DeliveryDispatcher
    /// Nil when the configuration switches it off.
    let history: HistorySearch?
    private let processor: NotificationProcessor
    private let monitor: CaseMonitor

    /// What the parts share with the rest of the daemon.
    struct Surroundings {
        let configuration: DaemonConfiguration
        let apps: AppCatalog
        let store: SQLiteStore
        let client: AppStoreClient
        let verifier: any NotificationVerifier
        let snapshots: SnapshotCache
        let now: WallClock
        let logger: Logger
    }

    init(_ parts: Surroundings) {
        let (configuration, store, logger) = (parts.configuration, parts.store, parts.logger)
        let clock = ServiceClock(now: parts.now)
        let (transfers, outcomes) = (TransfersUnderWay(), OutcomeBoard())
        let dispatcher = DeliveryDispatcher(
            DeliveryParts(
                store: store, consent: store, links: store, gateway: parts.client, apps: parts.apps,
                transfers: transfers, outcomes: outcomes, clock: clock,
                policy: DispatchPolicy(
                    concurrency: configuration.deliveries.concurrency, attemptTime: configuration.apple.deadline),
                logger: logger),
            worker: UUID().uuidString.lowercased())
        consumption = ConsumptionService(
            gateway: parts.client, deliveries: store, cases: store, links: store, outcomes: outcomes,
            kick: dispatcher.kick(for:), clock: clock, makeID: UUIDVersion7.make(at:), digest: Self.digest,
            logger: logger)
        deliveries = DeliveryService(store: store, transfers: transfers, outcomes: outcomes, now: parts.now)
        cases = CaseService(store: store, deliveries: store, transfers: transfers, now: parts.now)
        consent = ConsentService(store: store, transfers: transfers, outcomes: outcomes, now: parts.now)
        processor = NotificationProcessor(
            store: store, links: store, memory: store, consent: consent, snapshots: parts.snapshots,
            makeID: UUIDVersion7.make(at:), clock: clock, logger: logger)
        notifications = NotificationService(
            verifier: parts.verifier, store: store, processor: processor,
            retention: configuration.retention.notifications, now: parts.now, logger: logger)
        monitor = CaseMonitor(
            store: store, deliveries: store, consents: store, consumption: consumption, apps: parts.apps,
            policies: configuration.consumptionPolicies, warnBefore: configuration.cases.warnBefore, clock: clock,
            logger: logger)
        history = configuration.notifications.history.map { [processor] history in
            HistorySearch(
                gateway: parts.client, store: store, processor: processor, apps: parts.apps,
                interval: history.interval, firstLookBack: history.firstLookBack, clock: clock, logger: logger)
        }
        self.dispatcher = dispatcher
    }

    /// The loops, in dependency order.
    var services: [any Service] {
        [
            WorkService(work: dispatcher.run), WorkService(work: processor.run), WorkService(work: monitor.run),
        ] + (history.map { [WorkService(work: $0.run)] } ?? [])
    }

    /// What has no digest stands for itself.
    private static let digest: @Sendable ([UInt8]) -> [UInt8] = { (try? SHA256Digest.digest($0)) ?? $0 }
}
