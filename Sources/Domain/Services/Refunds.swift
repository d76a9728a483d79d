package import Foundation
package import Logging

/// What answers Apple's refund requests: from the notification that opens a case to the answer that Apple accepts.
package struct Refunds: Sendable {
    package let consumption: ConsumptionService
    /// How long an answer waits for what becomes of it when its caller does not say.
    package var consumptionWait: Duration { settings.read { $0.consumptionWait } }
    package let deliveries: DeliveryService
    package let cases: CaseService
    /// Tells what became of refund requests.
    package let reports: RefundReportService
    package let consent: ConsentService
    /// What services know of the use of purchases.
    package let usage: UsageService
    /// How apps answer by themselves, and what they would have answered.
    package let policies: PolicyTrial
    package let notifications: NotificationService
    package let dispatcher: DeliveryDispatcher
    package let processor: NotificationProcessor
    package let monitor: CaseMonitor
    /// What does not verify as an app's.
    package let quarantine: NotificationQuarantine
    /// Nil when the configuration switches it off.
    package let history: HistorySearch?
    /// What is being handed to Apple at this moment.
    package let transfers: InFlightDeliveries
    /// Those who wait for what becomes of a delivery.
    let waiters: DeliveryWaiters

    private let settings: CurrentSettings

    package struct Ports: Sendable {
        package var deliveries: any DeliveryStore
        package var claims: any DeliveryClaimStore
        package var cases: any CaseStore
        package var consents: any ConsentStore
        package var links: any LinkStore
        package var notifications: any NotificationStore
        package var quarantine: any QuarantineStore
        package var memory: any TransactionMemory
        package var usage: any UsageStore
        package var reports: any RefundReportStore
        package var appStore: any AppStoreServerAPI
        package var verifier: any NotificationVerifier
        package var clock: ServiceClock
        /// Names this process for as long as it runs.
        package var worker: String
        /// Makes an id ordered by the time given.
        package var makeID: @Sendable (Date) -> String
        /// SHA-256.
        package var digest: @Sendable ([UInt8]) -> [UInt8]
        package var logger: Logger
    }

    init(_ ports: Ports, audit: any AuditTrail, settings: CurrentSettings, snapshots: SnapshotCache) {
        let (clock, logger, start) = (ports.clock, ports.logger, settings.value)
        let (transfers, waiters) = (InFlightDeliveries(), DeliveryWaiters())
        let elsewhere = ForeignClaims(claims: ports.claims, waiters: waiters, clock: clock, policy: start.dispatch)
        let ending = DeliveryEnding(transfers: transfers, waiters: waiters, elsewhere: elsewhere, audit: audit)
        let dispatcher = DeliveryDispatcher(
            store: ports.deliveries, claims: ports.claims, links: ports.links, gateway: ports.appStore,
            apps: settings.apps,
            ending: ending, clock: clock, policy: start.dispatch, worker: ports.worker,
            logger: logger)
        let consumption = ConsumptionService(
            gateway: ports.appStore, deliveries: ports.deliveries, cases: ports.cases, links: ports.links,
            ending: ending, kick: dispatcher.kick(for:), clock: clock,
            longestLookUp: start.consumptionLookUp, makeID: ports.makeID, digest: ports.digest, logger: logger)
        let consent = ConsentService(
            store: ports.consents, deliveries: ports.deliveries, ending: ending, audit: audit, now: clock.now)
        let processor = NotificationProcessor(
            store: ports.notifications, ending: ending, snapshots: snapshots, makeID: ports.makeID, clock: clock,
            logger: logger)
        self.transfers = transfers
        self.waiters = waiters
        self.dispatcher = dispatcher
        self.consumption = consumption
        self.settings = settings
        deliveries = DeliveryService(store: ports.deliveries, ending: ending, now: clock.now)
        cases = CaseService(store: ports.cases, deliveries: ports.deliveries, ending: ending, now: clock.now)
        reports = RefundReportService(store: ports.reports, clock: clock)
        self.consent = consent
        usage = UsageService(store: ports.usage, now: clock.now)
        policies = PolicyTrial(
            settings: settings, cases: ports.cases, usage: ports.usage, consents: ports.consents,
            gateway: ports.appStore, now: clock.now)
        self.processor = processor
        let quarantine = NotificationQuarantine(
            verifier: ports.verifier, store: ports.quarantine, processor: processor, apps: settings.apps,
            retention: start.retention.notifications, clock: clock, logger: logger)
        self.quarantine = quarantine
        notifications = NotificationService(
            verifier: ports.verifier, store: ports.notifications, quarantine: quarantine, processor: processor,
            retention: start.retention, clock: clock)
        monitor = CaseMonitor(
            store: ports.cases, deliveries: ports.deliveries, consents: ports.consents, usage: ports.usage,
            consumption: consumption, service: cases, settings: settings, clock: clock,
            logger: logger)
        history = start.history.map { schedule in
            HistorySearch(
                gateway: ports.appStore, store: ports.notifications, quarantine: quarantine, processor: processor,
                apps: settings.apps, schedule: schedule, clock: clock, logger: logger)
        }
    }

    /// Verifies anew, soon, whatever did not verify: to be called when the configuration may be another.
    package func retryUnverified() {
        quarantine.retrySoon()
        history?.retryUnverified()
    }
}
