import Domain
import Foundation
import StoreSQL
import Synchronization
import TestSupport
import Testing

@testable import StorePostgres

/// Copies of everything between a caller's answer and a fake App Store, each with a store of its own on one database, by the clocks
/// of the machine and of the server.
struct CopiesFixture: Sendable {
    static let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    /// One of them.
    struct Copy: Sendable {
        let id: String
        let store: PostgresStore
        /// Its own way to the App Store, so that what it sends can be told from what others send.
        let gateway: FakeAppStoreGateway
        let services: Services
    }

    let database: PostgresFixture
    let copies: [Copy]

    subscript(_ number: Int) -> Copy { copies[number] }

    /// Runs a test with copies of which those work that it names.
    ///
    /// `count`: how many copies there are; `working`: the numbers of those that do their work from the start; `policy`: how
    /// they send; `accounts`: what the App Store knows.
    static func run(
        _ count: Int = 2, working: [Int] = [0, 1], policy: DispatchPolicy = DispatchPolicy(),
        accounts: [[Transaction]] = [[.sample(id: "1", account: "A")]],
        _ body: @escaping @Sendable (CopiesFixture) async throws -> Void
    ) async throws {
        try await PostgresFixture.run { database in
            var copies: [Copy] = []
            for number in 0..<count {
                let store = try await database.open(sharing: .shared)
                let gateway = FakeAppStoreGateway(accounts: accounts, now: { Date() })
                let id = "copy \(number)"
                let ports = Services.Ports.test(
                    store: store, changes: store.changes, appStore: gateway, clock: ServiceClock(now: { Date() }),
                    copyID: id)
                var settings = Services.Settings(apps: AppCatalog([app]))
                settings.dispatch = policy
                copies.append(
                    Copy(
                        id: id, store: store, gateway: gateway, services: Services(ports: ports, settings: settings)))
            }
            let fixture = CopiesFixture(database: database, copies: copies)
            let work = working.map { number in
                let copy = fixture[number]
                return Task { await copy.work() }
            }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(fixture))
            } catch {
                result = .failure(error)
            }
            for copy in fixture.copies { copy.gateway.consumptionGate.open() }
            for task in work { task.cancel() }
            for task in work { await task.value }
            try result.get()
        }
    }
}

extension CopiesFixture.Copy {
    /// Does everything that it does by itself, until the task is cancelled.
    func work() async {
        await withDiscardingTaskGroup { group in
            for loop in services.loops { group.addTask { await loop() } }
            group.addTask { await services.operations.events.run() }
        }
    }

    /// Accepts an answer.
    func send(
        _ target: ConsumptionService.Target = .transaction("1"), wait: Duration = .zero
    ) async throws(ServiceError) -> Delivery {
        try await services.refunds.consumption.send(
            ConsumptionService.Request(
                caller: "billing", target: target,
                answer: .v2(ConsumptionV2(deliveryStatus: .delivered, sampleContentProvided: true)), environment: nil,
                deadline: nil, wait: wait, idempotencyKey: nil, requestContent: []),
            UpstreamCall(
                app: CopiesFixture.app, environment: nil, deadline: ContinuousClock.now + .seconds(Wait.seconds)))
    }

    /// Records that a user agrees, or withdraws.
    @discardableResult
    func record(_ user: String, isConsented: Bool) async throws(ServiceError) -> ConsentService.Outcome {
        try await services.refunds.consent.record(
            app: CopiesFixture.app, user: try UserID(user), isConsented: isConsented, source: "test", at: nil,
            caller: "billing")
    }

    /// Claims what is due and does nothing of it, as a copy that dies.
    @discardableResult
    func claimAndDie(lease: Duration) async throws(ServiceError) -> [Delivery] {
        try await store.claimDeliveries(
            DeliveryClaim(worker: "dead", now: Date().roundedToMilliseconds, lease: lease, limit: 10)
        ).deliveries
    }

    /// A delivery as it is kept.
    func delivery(_ id: String) async throws -> Delivery {
        try #require(try await store.delivery(app: "coins", id: id))
    }

    /// Returns as soon as a delivery is as described.
    func delivery(_ id: String, when isReached: @escaping @Sendable (Delivery) -> Bool) async throws -> Delivery {
        try await Wait.value("delivery \(id) to be as described") {
            try await store.delivery(app: "coins", id: id).flatMap { isReached($0) ? $0 : nil }
        }
    }
}
