import Domain
import Foundation
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport

/// Everything between a caller's answer and a fake App Store, over a real store in a folder of its own, by a clock that
/// stands still.
struct DeliveryFixture: Sendable {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    static let otherApp = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 2, environments: [.sandbox])

    /// What the dispatcher works on.
    let store: FaultyStore
    let clock: ManualClock
    let gateway: FakeAppStoreGateway
    /// What is wrong with the machine's clock, where that is not believed without Apple.
    let machine: MachineClock?
    let ports: Services.Ports
    let services: Services

    /// Runs a test, with a dispatcher at work, and takes everything down again.
    static func with(
        accounts: [[Transaction]] = [[.sample(id: "1", account: "A")]], apps: [App] = [app, otherApp],
        policy: DispatchPolicy = DispatchPolicy(backoff: DeliveryBackoff(random: { 0.5 })), isDispatching: Bool = true,
        machine: MachineClock? = nil, _ test: @Sendable (DeliveryFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-domain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await SQLiteStore.open(
            at: folder.appending(path: "purser.db").path, secrets: UnsealedSecrets())
        let fixture = DeliveryFixture(store, accounts: accounts, apps: apps, policy: policy, machine)
        let dispatching = isDispatching ? Task { await fixture.dispatcher.run() } : nil
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(fixture))
        } catch {
            result = .failure(error)
        }
        fixture.gateway.consumptionGate.open()
        fixture.store.claimed.open()
        fixture.store.objections.open()
        fixture.store.heal()
        dispatching?.cancel()
        await dispatching?.value
        await store.close()
        try result.get()
    }

    private init(
        _ sqlite: SQLiteStore, accounts: [[Transaction]], apps: [App], policy: DispatchPolicy, _ machine: MachineClock?
    ) {
        let manual = ManualClock()
        let origin = ContinuousClock.now
        let rightTime: WallClock = { Self.start.addingTimeInterval(manual.now.offset / .seconds(1)) }
        let monotonicNow: @Sendable () -> ContinuousClock.Instant = { origin + manual.now.offset }
        let sleep: @Sendable (Duration) async throws -> Void = {
            try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil)
        }
        let clock =
            if let machine {
                ServiceClock(
                    SteadyClock(
                        wall: { rightTime().addingTimeInterval(machine.lead) }, monotonicNow: monotonicNow,
                        logger: Logger(label: "clock") { _ in SwiftLogNoOpLogHandler() }),
                    monotonicNow: monotonicNow, sleep: sleep)
            } else {
                ServiceClock(now: rightTime, monotonicNow: monotonicNow, sleep: sleep)
            }
        let store = FaultyStore(sqlite)
        let gateway = FakeAppStoreGateway(accounts: accounts, now: clock.now)
        var ports = Services.Ports.test(store: sqlite, changes: sqlite.changes, appStore: gateway, clock: clock)
        (ports.refunds.deliveries, ports.refunds.consents) = (store, store)
        var settings = Services.Settings(apps: AppCatalog(apps))
        settings.dispatch = policy
        services = Services(ports: ports, settings: settings)
        self.ports = ports
        self.store = store
        self.clock = manual
        self.gateway = gateway
        self.machine = machine
    }

    var dispatcher: DeliveryDispatcher { services.refunds.dispatcher }
    var consumption: ConsumptionService { services.refunds.consumption }
    var deliveries: DeliveryService { services.refunds.deliveries }
    var consent: ConsentService { services.refunds.consent }
    var transfers: InFlightDeliveries { services.refunds.transfers }
    /// What other copies send: the store has none.
    var elsewhere: ForeignClaims {
        ForeignClaims(
            claims: store.store, waiters: DeliveryWaiters(), clock: ports.clock, policy: DispatchPolicy())
    }
}

// MARK: Time

/// A machine whose clock can be wrong.
final class MachineClock: Sendable {
    private let state: Mutex<TimeInterval>

    /// `lead`: how far it is ahead of the right time, in seconds.
    init(lead: TimeInterval = 0) { state = Mutex(lead) }

    var lead: TimeInterval {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}

extension DeliveryFixture {
    /// Lets an answer of Apple's tell the time.
    func hearApple() {
        let instant = ports.clock.monotonicNow()
        ports.clock.steady?.decide(now, within: instant...instant)
        dispatcher.kick()
    }

    var now: Date { Self.start.addingTimeInterval(clock.now.offset / .seconds(1)) }

    /// Moves the clock on, and lets the dispatcher look even if it was about to fall asleep by the old time.
    func advance(by duration: Duration) {
        clock.advance(by: duration)
        dispatcher.kick()
    }

    /// Returns as soon as so many sleep no longer than so.
    func sleepersHaveArrived(_ count: Int = 1, within duration: Duration = .seconds(10)) async throws {
        try await Wait.until("\(count) to sleep for at most \(duration)") {
            clock.sleeperCount(within: duration) >= count
        }
    }

    /// Returns as soon as a delivery is as described.
    func delivery(
        _ id: String, in app: App = app, when isReached: (Delivery) -> Bool
    ) async throws -> Delivery {
        try await Wait.value("delivery \(id) to be as described") {
            try await store.store.delivery(app: app.slug, id: id).flatMap { isReached($0) ? $0 : nil }
        }
    }

    /// Returns as soon as a delivery has ended.
    func ended(_ id: String, in app: App = app) async throws -> Delivery {
        try await delivery(id, in: app) { $0.state.isFinal }
    }
}

// MARK: What callers and Apple do

extension DeliveryFixture {
    static func answer(_ percentage: Int32? = nil, preference: ConsumptionV2.RefundPreference? = nil)
        -> ConsumptionAnswer
    {
        .v2(
            ConsumptionV2(
                deliveryStatus: .delivered, sampleContentProvided: true, consumptionPercentage: percentage,
                refundPreference: preference))
    }

    /// Sends an answer; without a wait, nothing is asked of Apple before it is accepted.
    func send(
        _ target: ConsumptionService.Target = .transaction("1"), in app: App = app,
        answer: ConsumptionAnswer = answer(),
        environment: AppStoreEnvironment? = nil, deadline: Date? = nil, wait: Duration = .zero, key: String? = nil,
        content: String = ""
    ) async throws(ServiceError) -> Delivery {
        try await consumption.send(
            ConsumptionService.Request(
                caller: "billing", target: target, answer: answer, environment: environment, deadline: deadline,
                wait: wait,
                idempotencyKey: key.map { IdempotencyKey(caller: "billing", app: app.slug, route: "route", key: $0) },
                requestContent: Array(content.utf8)),
            UpstreamCall(app: app, environment: environment, deadline: ContinuousClock.now + .seconds(100_000)))
    }

    /// What an operation throws; nil if it does not.
    func failure<Value>(_ work: () async throws -> Value) async throws -> ServiceError? {
        do {
            _ = try await work()
            return nil
        } catch let error as ServiceError {
            return error
        }
    }

    /// Declares that a transaction is a user's.
    func link(_ transactionID: String, to user: String) async throws {
        _ = try await store.store.declare(try Link.sample(.transactionId, transactionID, user: user), transfer: false)
    }

    /// Lets Apple ask about a transaction.
    func openCase(_ transaction: Transaction, uuid: String = UUID().uuidString, signedAt: Date? = nil) async throws
        -> RefundCase
    {
        try await notify("CONSUMPTION_REQUEST", transaction, uuid: uuid, signedAt: signedAt ?? now)
        guard
            let refundCase = try await store.store.latestCase(
                app: "coins", transactionID: transaction.transactionID, environment: transaction.environment)
        else { throw ServiceError(.caseNotFound, "no case was opened") }
        return refundCase
    }

    /// Lets Apple send a notification about a transaction, and applies it unless that is left to others.
    func notify(
        _ type: String, _ transaction: Transaction, uuid: String = UUID().uuidString, signedAt: Date,
        isApplied: Bool = true
    ) async throws {
        let notification = StoredNotification(
            app: "coins",
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: type, subtype: nil,
                signedDate: Int64(signedAt.timeIntervalSince1970 * 1000), environment: transaction.environment,
                payload: Array("{}".utf8), signed: "n.n.n", transaction: transaction, renewalInfo: nil,
                appTransaction: nil),
            source: .webhook, receivedAt: now)
        _ = try await store.store.record(notification)
        guard isApplied else { return }
        _ = try await store.store.process(notification, newCaseID: UUID().uuidString, at: now)
    }

    /// Records that a user agrees, or withdraws.
    @discardableResult
    func record(_ user: String, isConsented: Bool) async throws -> ConsentService.Outcome {
        try await consent.record(
            app: Self.app, user: try UserID(user), isConsented: isConsented, source: "test", at: nil, caller: "billing")
    }
}
