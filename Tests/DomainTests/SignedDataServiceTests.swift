import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// How often Apple is asked about what apps hand over, and what it teaches.
struct SignedDataServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let checker = FakeSignedDataChecker()

    private var call: UpstreamCall {
        UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600), caller: "billing")
    }

    /// A service over an App Store, with a store that is gone with the closure.
    private func with(
        _ gateway: FakeAppStoreGateway, _ body: (SignedDataService, SQLiteStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-signed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await SQLiteStore.open(at: folder.appending(path: "purser.db").path)
        let services = Services(
            ports: .test(
                store: store, changes: store.changes, appStore: gateway, signedData: checker,
                clock: ServiceClock(now: { Date(timeIntervalSince1970: 1_700_000_000) })),
            settings: Services.Settings(apps: AppCatalog([app])))
        try await body(services.purchases.signedData, store)
    }

    private func items(_ transactions: [Transaction]) throws -> [SignedItem] {
        for transaction in transactions { checker.know("t\(transaction.transactionID)", as: transaction) }
        return try FieldReader.read([
            "signedData": .array(
                transactions.map {
                    .object(["kind": .string("transaction"), "signed": .string("t\($0.transactionID)")])
                })
        ]) { SignedDataService.items(&$0) }
    }

    @Test func `at most eight questions are put to Apple at once`() async throws {
        let transactions = (1...20).map { Transaction.sample(id: String($0)) }
        let gateway = FakeAppStoreGateway(accounts: [transactions])
        let items = try items(transactions)
        try await with(gateway) { service, _ in
            gateway.gate.close()
            async let entries = service.verify(items, user: nil, isConfirmed: true, call)
            await gateway.gate.hasArrivals(8)
            gateway.gate.open()
            let found = try await entries.map { entry in
                guard case .success(.transaction(let transaction)) = entry.present else { return "" }
                return transaction.transactionID
            }
            #expect(found == transactions.map(\.transactionID))
        }
        #expect(gateway.mostUnderWay == 8)
    }

    @Test func `an account's transactions cost one list, page by page until all are found`() async throws {
        let transactions = (1...50).map { Transaction.sample(id: String($0), account: "A") }
        let gateway = FakeAppStoreGateway(accounts: [transactions])
        let items = try items([transactions[0], transactions[24]])
        try await with(gateway) { service, _ in
            let entries = try await service.verify(items, user: nil, isConfirmed: true, call)
            #expect(entries.allSatisfy { (try? $0.present?.get()) != nil })
        }
        #expect(gateway.questions == [.history("A", revision: nil), .history("A", revision: "20")])
    }

    @Test func `an account that has another user does not keep a purchase from its own`() async throws {
        let mine = Transaction.sample(id: "1", account: "A")
        try await with(FakeAppStoreGateway(accounts: [])) { service, store in
            let bob = try UserID("bob")
            _ = try await store.declare(
                Link(
                    app: "coins", user: bob, target: LinkTarget(.appTransactionId, "A"), environment: .production,
                    source: .declared, validFrom: nil, validUntil: nil, createdAt: .distantPast, createdBy: "shop"),
                transfer: false)
            let entries = try await service.verify(
                try items([mine]), user: try UserID("alice"), isConfirmed: false, call)
            #expect(entries[0].link == .linked)
            let alice = try await store.links(app: "coins", user: try UserID("alice"))
            #expect(Set(alice.map(\.target.kind)) == [.transactionId, .originalTransactionId])
            let known = try await store.known(app: "coins", identifiers: ["1"])
            #expect(known.map(\.appTransactionID) == ["A"])
        }
    }
}
