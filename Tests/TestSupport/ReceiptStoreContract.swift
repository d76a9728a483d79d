package import Domain
import Foundation
import Testing

/// What every store must do with receipts.
package struct ReceiptStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = ReceiptStore & LinkStore & EventStore & StoreMaintenance & TransactionMemory
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases: [ReceiptStoreContract] = [
        ReceiptStoreContract("what is kept is read as it was") { store in
            let draft = try full("r1")
            #expect(try await store.keep(draft) == draft)
            #expect(try await store.receipt(app: "coins", id: "r1") == draft)
            #expect(try await store.receipt(app: "gems", id: "r1") == nil)
            #expect(try await store.receipts(app: "coins", ReceiptQuery()).map(\.receipt) == [draft])
            #expect(try await store.receipts(app: "gems", ReceiptQuery()).isEmpty)
        },
        ReceiptStoreContract("the same bytes are the same receipt, in one app") { store in
            let first = try await store.keep(try .draft("r1"))
            let second = try await store.keep(try .draft("r2", at: 1))
            #expect(second.id == "r1" && second.createdAt == first.createdAt && second.updatedAt == CaseModel.time(1))
            #expect(try await store.keep(try .draft("r3", app: "gems")).id == "r3")
            #expect(try await store.keep(try .draft("r4", digest: [2])).id == "r4")
            #expect(try await store.receipts(app: "coins", ReceiptQuery()).map(\.receipt.id) == ["r4", "r1"])
        },
        ReceiptStoreContract("what Apple says is kept with what it means") { store in
            let draft = try await store.keep(try .draft("r1"))
            let concluded = try await store.conclude(conclusion(draft, .known([transaction]), at: 1))
            let receipt = try #require(concluded)
            #expect(receipt.state == .confirmed && receipt.appTransactionID == "A" && receipt.nextAttemptAt == nil)
            #expect(try await store.receipt(app: "coins", id: "r1") == receipt)
            let user = try UserID("alice")
            #expect(
                Set(try await store.links(app: "coins", user: user).map(\.target)) == [
                    LinkTarget(.originalTransactionId, "1"), LinkTarget(.appTransactionId, "A"),
                ])
            #expect(try await store.known(app: "coins", identifiers: ["1"]).map(\.appTransactionID) == ["A"])
            let events = try await store.events(app: "coins", after: 0, limit: 10)
            #expect(events.map(\.kind) == [.receiptConfirmed] && events.map(\.subject) == ["r1"])
            #expect(events.map(\.user) == [user] && events.map(\.transactionID) == ["1"])
            // The same again is no news, but newer.
            let again = try await store.conclude(conclusion(receipt, .known([transaction]), at: 2))
            #expect(again?.checkedAt == CaseModel.time(2) && again?.updatedAt == CaseModel.time(1))
            #expect(try await store.events(app: "coins", after: 0, limit: 10).count == 1)
        },
        ReceiptStoreContract("what is no more is not concluded") { store in
            let draft = try Receipt.draft("r1")
            #expect(try await store.conclude(conclusion(draft, .unanswered, at: 1)) == nil)
        },
        ReceiptStoreContract("those that are due are taken once, by app and environment in turn") { store in
            for number in 0..<5 { _ = try await store.keep(try .draft("r\(number)", digest: [UInt8(number)])) }
            _ = try await store.keep(try .draft("g", app: "gems"))
            _ = try await store.keep(try .draft("done", digest: [9], isDue: false))
            let (soon, due) = (CaseModel.time(0), CaseModel.time(1))
            #expect(try await store.nextReceipt() == CaseModel.time(0).advanced(by: ReceiptRules.lease))
            #expect(try await store.claimReceipts(at: soon, skipping: [], limit: (2, 10)).isEmpty)
            let first = try await store.claimReceipts(at: due, skipping: [], limit: (2, 10))
            #expect(Set(first.map(\.id)) == ["r0", "r1", "g"])
            let coins = AppEnvironment(app: "coins", environment: .production)
            #expect(try await store.claimReceipts(at: due, skipping: [coins], limit: (2, 10)).isEmpty)
            #expect(try await store.claimReceipts(at: due, skipping: [], limit: (9, 2)).map(\.id) == ["r2", "r3"])
            #expect(try await store.claimReceipts(at: due, skipping: [], limit: (9, 9)).map(\.id) == ["r4"])
            #expect(try await store.claimReceipts(at: due, skipping: [], limit: (9, 9)).isEmpty)
            #expect(try await store.nextReceipt() == due.advanced(by: ReceiptRules.lease))
            let later = try await store.claimReceipts(at: CaseModel.time(2), skipping: [], limit: (9, 9))
            #expect(later.count == 6)
        },
        ReceiptStoreContract("what a clock that lied has put off for years is due") { store in
            _ = try await store.keep(try .draft("r1", at: 50_000))
            #expect(try await store.claimReceipts(at: CaseModel.time(0), skipping: [], limit: (1, 1)).count == 1)
        },
        ReceiptStoreContract("nothing is due while nothing waits") { store in
            #expect(try await store.nextReceipt() == nil)
            _ = try await store.keep(try .draft("done", isDue: false))
            #expect(try await store.nextReceipt() == nil)
            #expect(try await store.claimReceipts(at: CaseModel.time(9), skipping: [], limit: (1, 1)).isEmpty)
        },
        ReceiptStoreContract("receipts go when their time is over, but for those that wait") { store in
            for (id, digest, hour) in [("old", 1, 2), ("older", 2, 1), ("newer", 3, 100)] as [(String, UInt8, Double)] {
                _ = try await store.keep(try .draft(id, digest: [digest], at: hour, isDue: false))
            }
            let waiting = try await store.keep(try .draft("waiting", digest: [4]))
            var policy = RetentionPolicy()
            policy.receipts = .seconds(3600)
            let now = CaseModel.time(50)
            #expect(try await store.enforceRetention(policy, at: now, limit: 1).receipts == 1)
            #expect(try await store.receipt(app: "coins", id: "older") == nil)
            #expect(try await store.enforceRetention(policy, at: now, limit: 10).receipts == 1)
            #expect(
                try await store.receipts(app: "coins", ReceiptQuery()).map(\.receipt.id) == ["waiting", "newer"])
            _ = try await store.conclude(conclusion(waiting, .known([transaction]), at: 51))
            #expect(try await store.enforceRetention(policy, at: CaseModel.time(60), limit: 10).receipts == 1)
            #expect(try await store.checkIntegrity() == [])
        },
        ReceiptStoreContract("a page ends before it holds too much, and goes on") { store in
            let purchases = (1...10_000).map { ReceiptContent.Purchase.sample("\(100_000 + $0)", expires: 9000) }
            for number in 0..<8 {
                _ = try await store.keep(try .draft("r\(number)", digest: [UInt8(number)], .sample(purchases)))
            }
            let first = try await store.receipts(app: "coins", ReceiptQuery())
            #expect((1..<8).contains(first.count))
            var query = ReceiptQuery()
            query.before = first.last?.position
            let rest = try await store.receipts(app: "coins", query)
            #expect(rest.first?.receipt.id == "r\(7 - first.count)")
            #expect(rest.first?.receipt.content.purchases == purchases)
        },
    ]

    private static let transaction = Transaction.sample(id: "1", account: "A")

    private static func conclusion(
        _ receipt: Receipt, _ outcome: ReceiptConclusion.Outcome, at hour: Double
    ) -> ReceiptConclusion {
        ReceiptConclusion(
            receipt, outcome: outcome, at: CaseModel.time(hour), isTimeCertain: true,
            nextAttemptAt: CaseModel.time(hour + 1), usersPerTransaction: 3)
    }

    /// One with everything that can be kept.
    private static func full(_ id: String) throws -> Receipt {
        var receipt = try Receipt.draft(
            id,
            .sample(
                style: .transaction, environment: "ProductionSandbox", device: .mismatch,
                .sample("1", original: "0", expires: 2000, cancelled: 1500),
                ReceiptContent.Purchase(transactionID: nil, webOrderLineItemID: "7")))
        receipt.state = .fraud
        receipt.fraudReason = .contradicted
        receipt.flags = [.deviceMismatch, .revoked]
        receipt.countryCode = "DE"
        receipt.identifierForVendor = UUID(uuidString: "9F2C1D3E-5A4B-4C6D-8E7F-001122334455")
        receipt.ipAddress = "2001:db8::1"
        receipt.metadata = Array(#"{"a": 1.50}"#.utf8)
        receipt.raw = [0, 1, 2]
        receipt.appTransactionID = "A"
        receipt.checkedAt = CaseModel.time(3)
        receipt.unknownSince = CaseModel.time(2)
        receipt.attempts = 4
        return receipt
    }
}

extension Receipt {
    /// A receipt of hour zero of `CaseModel.time`, about which Apple is to be asked, with what a test cares about.
    package static func draft(
        _ id: String, app: String = "coins", digest: [UInt8] = [1], user: String? = "alice",
        _ content: ReceiptContent = .sample(), at hour: Double = 0, isDue: Bool = true
    ) throws -> Receipt {
        let now = CaseModel.time(hour)
        return Receipt(
            id: id, app: app, digest: digest, createdAt: now, updatedAt: now, content: content,
            environment: content.environment, user: try user.map(UserID.init),
            nextAttemptAt: isDue ? now.advanced(by: ReceiptRules.lease) : nil)
    }
}
