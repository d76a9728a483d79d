import Domain
import Foundation
import HTTPAPI
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport

/// Every service behind the listeners, over a real store in a folder of its own and a fake App Store, with what works in the
/// background at work; gone when the test is.
final class ServiceStack: Sendable {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    let gateway: FakeAppStoreGateway
    let verifier = FakeNotificationVerifier()
    let signedData = FakeSignedDataChecker()
    let receiptReader = FakeReceiptReader()
    let callbacks = FakeCallbackTransport()
    let store: SQLiteStore
    let services: Services
    private let folder: URL
    private let work: [Task<Void, Never>]

    /// `consumptionWait`: by a real clock; `now`: the time of day, for good; `backup`: the file of a store to begin with;
    /// `acceptedLosses`: the master keys whose loss is accepted;
    /// `exports`: in the place of the store, for what is given out of a user;
    /// `masterKeyID`: what opens its secrets; `authenticationCode`: of a content under a key, for what erasures leave.
    init(
        apps: AppCatalog, callers: [ConfiguredCaller] = [], accounts: [[Transaction]] = [], pageSize: Int = 20,
        consumptionWait: Duration = Wait.limit, now: Date = ServiceStack.now, backup: String? = nil,
        acceptedLosses: Set<String> = [],
        exports: (any UserExportStore)? = nil, masterKeyID: String = "one",
        authenticationCode: @escaping @Sendable (_ key: [UInt8], _ content: [UInt8]) -> [UInt8] = {
            TestCode.authenticationCode($0 + $1)
        }
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "purser-http-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "purser.db").path
        if let backup { try FileManager.default.copyItem(atPath: backup, toPath: file) }
        let secrets = UnsealedSecrets(
            masterKeyID: masterKeyID, acceptedLosses: acceptedLosses, now: { now },
            authenticationCode: authenticationCode)
        store = try await SQLiteStore.open(at: file, secrets: secrets)
        gateway = FakeAppStoreGateway(accounts: accounts, pageSize: pageSize)
        var ports = Services.Ports.test(
            store: store, changes: store.changes, appStore: gateway, verifier: verifier,
            signedData: signedData, receiptReader: receiptReader, callbacks: callbacks,
            clock: ServiceClock(now: { now }))
        if let exports { ports.purchases.exports = exports }
        // Whoever waits for events waits until there are some, however slow the machine is.
        ports.operations.clock = ServiceClock(
            now: { now }, sleep: { _ in try await ContinuousClock().sleep(for: Wait.limit) })
        var settings = Services.Settings(apps: apps)
        settings.consumptionWait = consumptionWait
        // What is put off because a busy machine came to it late would never be due: the time of day stands still.
        settings.dispatch = DispatchPolicy(leaseMargin: Wait.limit * 4)
        settings.callers = callers
        settings.callbacks.allowedHosts = ["hooks.example.com"]
        let services = Services(ports: ports, settings: settings)
        self.services = services
        work = [
            Task { await services.refunds.dispatcher.run() }, Task { await services.refunds.processor.run() },
            Task { await services.operations.events.run() },
        ]
    }

    deinit {
        for task in work { task.cancel() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Keeps a notification as if it had come, and waits until its effects are there.
    func receive(_ notification: StoredNotification) async throws {
        verifier.know(notification.notification)
        _ = try await services.refunds.notifications.receive(
            notification.notification.signed, app: try services.apps.app(notification.app), source: .webhook,
            for: .stranger(from: nil))
        let uuid = notification.notification.notificationUUID
        try await Wait.until("notification \(uuid) to be applied") {
            try await store.notification(app: notification.app, uuid: uuid)?.processedAt != nil
        }
    }

    /// A delivery once it is as described.
    func delivery(_ id: String, when isReached: (Delivery) -> Bool) async throws -> Delivery {
        try await Wait.value("delivery \(id) to be as described") {
            try await store.delivery(app: "coins", id: id).flatMap { isReached($0) ? $0 : nil }
        }
    }
}
