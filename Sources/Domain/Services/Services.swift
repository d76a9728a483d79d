package import Foundation
package import Logging

/// Every service, built once and here alone: from ports, which adapters implement, and from settings.
///
/// A daemon, a stack of tests and a tool make the same `Services`; what differs is in the ports. A new service is a line of the
/// group that it belongs to.
package struct Services: Sendable {
    package let apps: AppCatalog
    /// Apple's API itself, for routes that pass a question on.
    package let appStore: any AppStoreServerAPI
    /// Signs for callers.
    package let signing: SigningService
    /// What operators do with signing keys.
    package let keys: any KeyAdministration
    /// Keeps what was done.
    package let audit: any AuditTrail
    package let refunds: Refunds
    package let purchases: Purchases
    package let access: Access
    package let operations: Operations
    package let callbacks: Callbacks
    /// Lists as they were read, for the pages that follow.
    package let snapshots: SnapshotCache
    package let clock: ServiceClock
    private let settings: CurrentSettings
    /// What other copies of the daemon do.
    package let exchange: CopyExchange
    /// Makes a duty of work.
    private let duty: @Sendable (String) -> Duty

    package init(ports: Ports, settings: Settings) { self.init(ports: ports, settings: CurrentSettings(settings)) }

    /// `settings`: as whoever else reads them sees them, too.
    package init(ports: Ports, settings: CurrentSettings) {
        let snapshot = settings.value.snapshots
        self.settings = settings
        snapshots = SnapshotCache(
            lifetime: snapshot.lifetime, maximumBytes: snapshot.maximumBytes, now: ports.clock.monotonicNow)
        apps = settings.apps
        appStore = ports.appStore
        signing = SigningService(
            signatures: ports.signatures, tokens: ports.tokens, audit: ports.audit, digest: ports.refunds.digest,
            monotonicNow: ports.clock.monotonicNow)
        keys = ports.keys
        audit = ports.audit
        clock = ports.clock
        refunds = Refunds(ports.refunds, audit: ports.audit, settings: settings, snapshots: snapshots)
        purchases = Purchases(ports.purchases, audit: ports.audit, settings: settings, snapshots: snapshots)
        let living = LivingCopies()
        access = Access(ports.access, copies: living, settings: settings)
        operations = Operations(
            ports.operations, copies: living, audit: ports.audit, sendingReleased: refunds.dispatcher.kick)
        callbacks = Callbacks(ports.callbacks, feed: operations.events, audit: ports.audit, settings: settings)
        let (copies, id, clock, logger) = (
            ports.operations.copies, ports.operations.copyID, ports.clock, ports.operations.logger
        )
        duty = { Duty($0, holder: id, store: copies, clock: clock, logger: logger) }
        exchange = CopyExchange(
            id: id, copies: copies, claims: ports.refunds.claims, transfers: refunds.transfers,
            waiters: refunds.waiters, kickDispatcher: refunds.dispatcher.kick,
            kickProcessor: refunds.processor.kick, callbacksChanged: callbacks.sender.changed,
            lookForCallbacks: callbacks.sender.lookAgain, changes: ports.operations.changes, clock: clock)
    }

    /// Puts other settings in the place of those that there are, and tries again what failed by those.
    ///
    /// A request looks for its caller first and for its app afterwards; so the apps come first here: whoever is known by the new
    /// callers finds the new apps. What has begun ends with what it has read. Of the settings those have no effect that are used at
    /// the start alone: ``Settings/dispatch``, ``Settings/receipts``, ``Settings/retention``, ``Settings/history`` and
    /// ``Settings/snapshots``.
    package func replaceSettings(with settings: Settings) {
        self.settings.replace(with: settings)
        access.registry.replace(configured: settings.callers)
        refunds.dispatcher.kick()
        refunds.retryUnverified()
    }

    /// Everything that works by itself, in the order in which it begins; each ends soon after its task is cancelled.
    ///
    /// Of copies of the daemon on one store each sends deliveries, asks about receipts and keeps its own memory up; the rest
    /// one of them does at a time.
    package var loops: [@Sendable () async -> Void] {
        var loops = [
            refunds.dispatcher.run, purchases.receiptConfirmer.run, access.run, operations.heartbeat.run,
        ]
        // The daemon ends with the first of its loops, and this one has nothing to do where there is no other copy.
        if exchange.copies.isShared { loops.append(exchange.run) }
        var duties: [(name: String, work: @Sendable () async -> Void)] = [
            ("notifications", refunds.processor.run), ("cases", refunds.monitor.run),
            ("quarantine", refunds.quarantine.run), ("owners", operations.owners.run),
        ]
        if let history = refunds.history { duties.append(("history", history.run)) }
        for (name, work) in duties {
            let duty = duty(name)
            loops.append { await duty.run { _ in await work() } }
        }
        let (callbacksDuty, sender) = (duty("callbacks"), callbacks.sender)
        loops.append { await callbacksDuty.run(sender.run) }
        if let steady = clock.steady {
            let watch = ClockWatch(
                steady, clock: clock, gateway: appStore, apps: apps, changed: refunds.dispatcher.kick)
            loops.append(watch.run)
        }
        return loops
    }
}

extension Services {
    /// All that a store must be.
    package typealias Store = AppleAnswerStore & CallbackStore & CallerStore & CaseStore & ConsentStore & CopyStore
        & DeliveryClaimStore & DeliveryStore & EventStore
        & LinkStore & NotificationStore & QuarantineStore & ReceiptStore & RefundReportStore & StoreMaintenance
        & StoredStateStore & TransactionMemory & UsageStore & UserExportStore

    /// What services need of the world, group by group; any of it can be replaced by itself.
    package struct Ports: Sendable {
        package var appStore: any AppStoreServerAPI
        package var signatures: any SignatureSource
        package var tokens: any TokenIssuer
        package var keys: any KeyAdministration
        /// Keeps what was done, so that it can be proved later.
        package var audit: any AuditTrail
        package var clock: ServiceClock
        package var refunds: Refunds.Ports
        package var purchases: Purchases.Ports
        package var access: Access.Ports
        package var operations: Operations.Ports
        package var callbacks: Callbacks.Ports

        /// Ports that share one store, one App Store and one clock.
        ///
        /// - Parameters:
        ///   - store: keeps everything.
        ///   - changes: tells of every commit that kept events.
        ///   - appStore: Apple's API.
        ///   - keys: the signing keys, for operators.
        ///   - signatures: signs what apps hand to StoreKit.
        ///   - tokens: signs tokens for Apple that callers use themselves.
        ///   - audit: keeps what was done.
        ///   - verifier: tells whether Apple signed a notification.
        ///   - signedData: tells whether Apple signed what an app hands over.
        ///   - receiptReader: verifies the receipts that apps send.
        ///   - budgets: Apple's rate limits, which `appStore` keeps to.
        ///   - pageTokens: writes and reads the tokens of pages.
        ///   - credentials: what callers prove themselves by.
        ///   - callbacks: what posts to those who subscribed.
        ///   - clock: the clocks.
        ///   - copyID: names this process for as long as it runs.
        ///   - masterKeyIDs: the ids of the master keys that this process holds.
        ///   - makeID: makes an id ordered by the time given.
        ///   - makeSnapshotID: makes an id that cannot be guessed.
        ///   - digest: SHA-256.
        ///   - logger: where trouble is told.
        package init(
            store: any Store, changes: ChangeSignal, appStore: any AppStoreServerAPI, keys: any KeyAdministration,
            signatures: any SignatureSource,
            tokens: any TokenIssuer, audit: any AuditTrail, verifier: any NotificationVerifier,
            signedData: any SignedDataChecker,
            receiptReader: any ReceiptReader,
            budgets: RateBudgets, pageTokens: PageTokenCoder, credentials: Access.Credentials,
            callbacks: CallbackDelivery, clock: ServiceClock, copyID: String,
            masterKeyIDs: @escaping @Sendable () -> [String] = { [] },
            makeID: @escaping @Sendable (Date) -> String, makeSnapshotID: @escaping @Sendable () -> String,
            digest: @escaping @Sendable ([UInt8]) -> [UInt8], logger: Logger
        ) {
            self.appStore = appStore
            self.signatures = signatures
            self.tokens = tokens
            self.keys = keys
            self.audit = audit
            self.clock = clock
            refunds = Refunds.Ports(
                deliveries: store, claims: store, cases: store, consents: store, links: store, notifications: store,
                quarantine: store, memory: store, usage: store, reports: store,
                appStore: appStore, verifier: verifier, clock: clock, worker: copyID, makeID: makeID,
                digest: digest, logger: logger)
            purchases = Purchases.Ports(
                links: store, memory: store, receipts: store, exports: store, storedState: store,
                receiptReader: receiptReader,
                appStore: appStore, signedData: signedData, pageTokens: pageTokens, isShared: store.isShared,
                clock: clock,
                makeSnapshotID: makeSnapshotID,
                makeID: makeID, digest: digest,
                logger: logger)
            access = Access.Ports(
                store: store, credentials: credentials, budgets: budgets, audit: audit, clock: clock, logger: logger)
            operations = Operations.Ports(
                maintenance: store, deliveries: store, events: store, copies: store, copyID: copyID,
                masterKeyIDs: masterKeyIDs, changes: changes,
                budgets: budgets, clock: clock, logger: logger)
            self.callbacks = Callbacks.Ports(
                store: store, events: store, changes: changes, delivery: callbacks, clock: clock, makeID: makeID,
                logger: logger)
        }
    }

    /// What the configuration says to services.
    package struct Settings: Sendable {
        package var apps: AppCatalog
        /// Those whom the configuration names.
        package var callers: [ConfiguredCaller] = []
        package var callerPolicy = CallerPolicy()
        /// How an answer goes to Apple.
        package var dispatch = DispatchPolicy()
        /// How long an answer waits for what becomes of it when its caller does not say.
        package var consumptionWait: Duration = .seconds(5)
        /// How much of that wait Apple is given to say what the answer is about.
        package var consumptionLookUp: Duration = .seconds(2)
        /// What is answered for an app when nobody else does, by slug.
        package var refundPolicies: [String: RefundPolicy] = [:]
        /// How long before its deadline an open case is warned of.
        package var warnBefore: [Duration] = []
        package var receipts = ReceiptPolicy()
        package var callbacks = CallbackPolicy()
        package var retention = RetentionPolicy()
        /// Nil when Apple's notification history is not searched.
        package var history: HistorySearch.Schedule?
        /// How long, and in how many bytes, a list is kept as it was read.
        package var snapshots: (lifetime: Duration, maximumBytes: Int) = (.seconds(600), 64 << 20)

        package init(apps: AppCatalog) { self.apps = apps }
    }
}
