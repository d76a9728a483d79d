import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What operators can do with the store while it is in use.
struct StoreAdministrationTests {
    @Test func `a release lets what waited be sent at once`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-release-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let now = DeliveryFixture.start
        let copy = folder.appending(path: "copy.db").path
        let original = try await SQLiteStore.open(at: folder.appending(path: "purser.db").path)
        try await original.backup(to: copy, at: now)
        await original.close()

        let store = try await SQLiteStore.open(at: copy)
        let gateway = FakeAppStoreGateway(accounts: [[.sample(id: "1", account: "A")]])
        let ports = Services.Ports.test(
            store: store, changes: store.changes, appStore: gateway, clock: ServiceClock(now: { now }))
        var settings = Services.Settings(apps: AppCatalog([DeliveryFixture.app]))
        // By itself the dispatcher would not look again while the test lasts, in which the time of day stands still.
        settings.dispatch = DispatchPolicy(leaseMargin: Wait.limit * 4, longestPause: Wait.limit * 10)
        let services = Services(ports: ports, settings: settings)
        let dispatching = Task { await services.refunds.dispatcher.run() }
        let delivery = try await services.refunds.consumption.send(
            ConsumptionService.Request(caller: "billing", target: .transaction("1"), answer: DeliveryFixture.answer()),
            UpstreamCall(app: DeliveryFixture.app, environment: nil, deadline: .now + Wait.limit))
        await services.refunds.dispatcher.heartbeat()
        #expect(gateway.handOvers.isEmpty, "a copy sends nothing by itself")

        let released = try await services.operations.store.releaseSending(by: .operator(uid: 7))
        #expect(released.hold != nil && released.waiting == 1)
        try await Wait.until("the delivery to be accepted") {
            try await store.delivery(app: "coins", id: delivery.id)?.state == .accepted
        }
        #expect(try await services.operations.store.releaseSending(by: .operator(uid: 7)).hold == nil)
        dispatching.cancel()
        await dispatching.value
        await store.close()
    }
}
