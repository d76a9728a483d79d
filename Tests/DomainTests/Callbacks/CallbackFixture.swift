import Domain
import Foundation
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

/// Callbacks over a real store in a folder of its own, receivers that remember, and a clock that stands still.
struct CallbackFixture: Sendable {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    static let other = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 2)

    let store: SQLiteStore
    let transport = FakeCallbackTransport()
    let clock: ManualClock
    let log: RecordedLog
    let services: Services

    var sender: CallbackSender { services.callbacks.sender }
    var service: CallbackService { services.callbacks.service }

    /// Runs a test in a folder of its own, with a sender at work.
    ///
    /// `lease`: under which it works.
    static func with(
        under lease: DutyLease = .unlimited, _ test: @Sendable (CallbackFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-callbacks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(in: folder, under: lease, test)
    }

    /// Runs a sender for the length of a closure, over a store that may be there already.
    static func run(
        in folder: URL, clock: ManualClock = ManualClock(), under lease: DutyLease = .unlimited,
        _ test: @Sendable (CallbackFixture) async throws -> Void
    ) async throws {
        let store = try await SQLiteStore.open(
            at: folder.appending(path: "purser.db").path, secrets: UnsealedSecrets())
        let fixture = CallbackFixture(store, clock)
        let sending = Task { await fixture.sender.run(under: lease) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(fixture))
        } catch {
            result = .failure(error)
        }
        sending.cancel()
        fixture.transport.gate.open()
        await sending.value
        await store.close()
        try result.get()
    }

    private init(_ store: SQLiteStore, _ manual: ManualClock) {
        let (origin, log) = (ContinuousClock.now, RecordedLog())
        let clock = ServiceClock(
            now: { Self.start.addingTimeInterval(manual.now.offset / .seconds(1)) },
            monotonicNow: { origin + manual.now.offset },
            sleep: { try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil) })
        var ports = Services.Ports.test(
            store: store, changes: store.changes, appStore: FakeAppStoreGateway(accounts: []), callbacks: transport,
            clock: clock,
            logger: log.logger)
        // Pauses are the longest that can be drawn.
        ports.callbacks.delivery.retries = CallbackRetries(random: { 1 })
        var settings = Services.Settings(apps: AppCatalog([Self.app, Self.other]))
        settings.callbacks.allowedHosts = ["*"]
        services = Services(ports: ports, settings: settings)
        (self.store, self.clock, self.log) = (store, manual, log)
    }

    /// Makes a callback of `coins` at a host of its own.
    func add(
        _ host: String, _ format: Callback.Format = .cloudevents, types: [String] = [], products: [String] = [],
        environments: [String] = [], of app: App = app
    ) async throws -> Callback {
        func list(_ texts: [String]) -> FieldValue { .array(texts.map(FieldValue.string)) }
        var fields = FieldReader(body: [
            "url": .string("https://\(host)/hook"), "format": .string(format.rawValue), "types": list(types),
            "products": list(products), "environments": list(environments),
        ])
        let read = fields.callbackDraft(service.policy)
        let draft = try #require(read, "\(fields.error)")
        return try await service.add(app: app, draft, by: .daemon, caller: "shop").0.callback
    }

    /// Keeps and applies a notification about a transaction.
    func notify(
        _ uuid: String, _ type: String = "CONSUMPTION_REQUEST", about transaction: String = "1", at hour: Double = 0,
        environment: AppStoreEnvironment = .production, app: App = app
    ) async throws {
        try await store.take(
            .sample(
                uuid, type: type, at: hour, transaction: .sample(id: transaction, environment: environment),
                app: app.slug))
    }

    /// Returns as soon as a host was posted so many messages.
    @discardableResult
    func bodies(of host: String, count: Int) async throws -> [String] {
        try await Wait.value("\(count) messages at \(host)") {
            let bodies = transport.bodies(of: host)
            return bodies.count >= count ? bodies : nil
        }
    }

    /// Lets time pass, and the sender look by it.
    func advance(by duration: Duration) {
        clock.advance(by: duration)
        sender.changed(nil)
    }

    /// Returns as soon as a callback is as described.
    @discardableResult
    func listing(
        _ callback: Callback, when isReached: (CallbackService.Listing) -> Bool
    ) async throws -> CallbackService.Listing {
        try await Wait.value("callback \(callback.url.host) to be as described") {
            let listing = try await service.get(app: Self.app, id: callback.id)
            return isReached(listing) ? listing : nil
        }
    }
}
