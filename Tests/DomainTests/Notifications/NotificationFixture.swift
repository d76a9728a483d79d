import Foundation
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport

@testable import Domain

/// What takes notifications in and applies them, over a real store, by a clock that stands still.
struct NotificationFixture: Sendable {
    static let app = DeliveryFixture.app

    let base: DeliveryFixture
    let store: FlakyNotificationStore
    let verifier = FakeNotificationVerifier()
    let log = RecordedLog()
    let services: Services

    var processor: NotificationProcessor { services.refunds.processor }
    var service: NotificationService { services.refunds.notifications }
    var quarantine: NotificationQuarantine { services.refunds.quarantine }
    var snapshots: SnapshotCache { services.snapshots }

    /// Runs a test, with a processor at work unless it is to be started later, and takes everything down again.
    static func with(
        isProcessing: Bool = true, machine: MachineClock? = nil,
        _ test: @Sendable (NotificationFixture) async throws -> Void
    ) async throws {
        try await DeliveryFixture.with(isDispatching: false, machine: machine) { base in
            let fixture = NotificationFixture(base)
            try await fixture.during(isProcessing ? [fixture.processor.run] : []) { try await test(fixture) }
        }
    }

    private init(_ base: DeliveryFixture) {
        self.base = base
        let sqlite = base.store.store
        store = FlakyNotificationStore(sqlite)
        let lastID = Mutex(0)
        var ports = base.ports
        (ports.refunds.notifications, ports.refunds.quarantine) = (store, store)
        ports.refunds.verifier = verifier
        ports.refunds.logger = log.logger
        ports.refunds.makeID = { _ in
            lastID.withLock { last in
                last += 1
                return "case-\(last)"
            }
        }
        services = Services(ports: ports, settings: Services.Settings(apps: AppCatalog([Self.app])))
    }

    /// Runs loops while something is done.
    func during(_ loops: [@Sendable () async -> Void], _ work: () async throws -> Void) async throws {
        let tasks = loops.map { loop in Task { await loop() } }
        let result: Result<Void, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        tasks.forEach { $0.cancel() }
        for task in tasks { await task.value }
        try result.get()
    }

    /// Moves the clock on as soon as so many sleep that will then be woken.
    func advance(by duration: Duration, waking count: Int = 1) async throws {
        try await base.sleepersHaveArrived(count, within: duration)
        base.clock.advance(by: duration)
    }

    /// Returns as soon as a notification is applied.
    @discardableResult
    func applied(_ uuid: String, app: String = "coins") async throws -> StoredNotification {
        try await Wait.value("notification \(uuid) to be applied") {
            try await store.notification(app: app, uuid: uuid).flatMap { $0.processedAt == nil ? nil : $0 }
        }
    }

    /// Keeps a notification as the webhook does.
    func take(_ notification: StoredNotification) async throws {
        _ = try await store.record(notification)
        processor.kick()
    }

    func refundCase(of transactionID: String = "1000") async throws -> RefundCase? {
        try await store.store.latestCase(app: "coins", transactionID: transactionID, environment: nil)
    }

    /// `kind value user source` of every link of these users.
    func links(of users: String...) async throws -> Set<String> {
        var found: Set<String> = []
        for user in users {
            for link in try await store.store.links(app: "coins", user: try UserID(user)) {
                found.insert("\(link.target.kind.rawValue) \(link.target.value) \(user) \(link.source.rawValue)")
            }
        }
        return found
    }

    func isConsented(_ user: String) async throws -> Bool? {
        try await store.store.consentHistory(app: "coins", user: try UserID(user)).last?.isConsented
    }
}

extension NotificationFixture {
    /// A search of Apple's history at work.
    func searching(
        _ history: any NotificationGateway, app: App, _ work: (HistorySearch) async throws -> Void
    ) async throws {
        let search = HistorySearch(
            gateway: history, store: store, quarantine: quarantine, processor: processor, apps: AppCatalog([app]),
            clock: base.machine == nil ? base.serviceClock : base.ports.clock, logger: log.logger)
        try await during([search.run]) { try await work(search) }
    }
}

extension DeliveryFixture {
    /// The clocks by which the fixture lives.
    var serviceClock: ServiceClock {
        let manual = clock
        let origin = ContinuousClock.now - manual.now.offset
        return ServiceClock(
            now: { Self.start.addingTimeInterval(manual.now.offset / .seconds(1)) },
            monotonicNow: { origin + manual.now.offset },
            sleep: { try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil) })
    }
}
