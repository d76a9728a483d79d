import Foundation
import StoreSQL
import StoreSQLite
import TestSupport

@testable import Domain

/// What takes receipts and asks Apple about them, over a real store and a fake App Store, by a clock that stands still.
struct ReceiptFixture: Sendable {
    static let app = DeliveryFixture.app

    let base: DeliveryFixture
    let reader: FakeReceiptReader
    let services: Services

    var store: SQLiteStore { base.store.store }
    var gateway: FakeAppStoreGateway { base.gateway }
    var service: ReceiptService { services.purchases.receipts }

    /// Runs a test; Apple is asked again about what waits only while `asking` does.
    static func with(
        accounts: [[Transaction]] = [[.sample(id: "1", account: "A")]], policy: ReceiptPolicy = ReceiptPolicy(),
        machine: MachineClock? = nil, _ test: @Sendable (ReceiptFixture) async throws -> Void
    ) async throws {
        try await DeliveryFixture.with(accounts: accounts, isDispatching: false, machine: machine) { base in
            try await test(ReceiptFixture(base, FakeReceiptReader(), policy))
        }
    }

    init(_ base: DeliveryFixture, _ reader: FakeReceiptReader, _ policy: ReceiptPolicy) {
        self.base = base
        self.reader = reader
        var ports = base.ports
        ports.purchases.receiptReader = reader
        var settings = Services.Settings(apps: AppCatalog([DeliveryFixture.app, DeliveryFixture.otherApp]))
        settings.receipts = policy
        services = Services(ports: ports, settings: settings)
    }

    /// The same after the process has died and another one has begun.
    func restarted(_ policy: ReceiptPolicy = ReceiptPolicy()) -> ReceiptFixture { ReceiptFixture(base, reader, policy) }

    /// Asks Apple about what waits, again and again, while something is done.
    func asking(_ work: () async throws -> Void) async throws {
        let task = Task { await services.purchases.receiptConfirmer.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        task.cancel()
        await task.value
        try result.get()
    }
}

// MARK: Uploads

extension ReceiptFixture {
    /// Uploads a receipt that says what `content` does.
    func upload(
        _ content: ReceiptContent = .sample(), as text: String = "receipt", user: String? = "alice",
        country: String? = nil, device: UUID? = nil, address: String? = nil, metadata: String? = nil,
        among apps: [App] = [app]
    ) async throws -> ReceiptAnswer {
        let bytes = reader.know(text, as: .success(content))
        return try await service.upload(
            ReceiptUpload(
                receipt: bytes, countryCode: country, identifierForVendor: device, user: try user.map(UserID.init),
                ipAddress: address, metadata: metadata.map { Array($0.utf8) }), among: apps, caller: "shop")
    }

    /// The receipt as it is kept.
    func kept(_ answer: ReceiptAnswer) async throws -> Receipt {
        guard let receipt = answer.receipt else { throw WaitedInVain(what: "a receipt that was kept") }
        return try await service.receipt(app: Self.app, id: receipt.id)
    }

    /// Moves the clock on until a receipt is as described, a step at a time.
    @discardableResult
    func pass(
        by step: Duration = .seconds(60), _ answer: ReceiptAnswer, until isReached: (Receipt) -> Bool
    ) async throws -> Receipt {
        try await Wait.value("the receipt to be as described") {
            let receipt = try await kept(answer)
            if isReached(receipt) { return receipt }
            if base.clock.sleeperCount(within: .seconds(60)) > 0 { base.clock.advance(by: step) }
            return nil
        }
    }

    /// `kind detail` of every event about receipts.
    func events() async throws -> [String] {
        try await store.events(app: "coins", after: 0, limit: 1000).filter { $0.kind.rawValue.hasPrefix("receipt.") }
            .map { [$0.kind.rawValue, $0.detail].compactMap(\.self).joined(separator: " ") }
    }

    /// `kind value source` of every link of a user.
    func links(of user: String) async throws -> Set<String> {
        Set(
            try await store.links(app: "coins", user: try UserID(user)).map {
                "\($0.target.kind.rawValue) \($0.target.value) \($0.source.rawValue)"
            })
    }
}

extension ReceiptAnswer {
    /// The receipt, if it was kept.
    var receipt: Receipt? {
        switch self {
        case .confirmed(let receipt), .queued(let receipt): receipt
        case .refused: nil
        }
    }

    var isConfirmed: Bool { if case .confirmed = self { true } else { false } }
    var isQueued: Bool { if case .queued = self { true } else { false } }
}

extension ServiceError {
    /// Apple does not answer.
    static let outOfReach = ServiceError(.appleUnavailable, "Apple cannot be reached.")
}
