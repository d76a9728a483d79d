import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// Receipts in their tables.
struct ReceiptStoreTests {
    @Test(arguments: ReceiptStoreContract.cases)
    func `the SQLite store keeps the contract of receipts`(contract: ReceiptStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    private static let markers = ["erased-marker-0815", "192.0.2.77", "9F2C1D3E-5A4B-4C6D-8E7F-001122334455"]

    /// Which of some texts occur in a file of the store.
    private func found(in folder: StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil).flatMap { file in
            let bytes = try Data(contentsOf: file)
            return Self.markers.filter { bytes.range(of: Data($0.utf8)) != nil }
        }
    }

    /// A receipt of the user that names it everywhere, confirmed.
    private func fill(_ store: SQLiteStore, _ user: String) async throws {
        var draft = try Receipt.draft("r1", user: user)
        draft.ipAddress = Self.markers[1]
        draft.identifierForVendor = UUID(uuidString: Self.markers[2])
        draft.metadata = Array(#"{"of":"\#(Self.markers[0])"}"#.utf8)
        draft.raw = Array("raw of \(Self.markers[0])".utf8)
        draft.countryCode = "DE"
        let kept = try await store.keep(draft)
        _ = try await store.conclude(
            ReceiptConclusion(
                kept, outcome: .known([.sample(id: "1", account: "A")]), at: CaseModel.time(1), isTimeCertain: true,
                nextAttemptAt: CaseModel.time(2), usersPerTransaction: 3))
    }

    @Test func `no byte of any file tells of whom a receipt was sent for, once that user is erased`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let user = try UserID(Self.markers[0])
        try await fill(store, user.value)
        #expect(Set(try found(in: folder)) == Set(Self.markers))
        let report = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(2))
        #expect(report.receipts == 1 && report.links == 2)
        #expect(try found(in: folder).isEmpty)
        let kept = try #require(try await store.receipt(app: "coins", id: "r1"))
        #expect(kept.user == nil && kept.metadata == nil && kept.raw == nil && kept.countryCode == nil)
        #expect(kept.state == .confirmed && kept.content == .sample())
        await store.close()
        #expect(try found(in: folder).isEmpty)
    }

    @Test func `what was sent for one user goes when the receipt is another's, before any erasure`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let user = try UserID(Self.markers[0])
        try await fill(store, user.value)
        var draft = try Receipt.draft("r2", user: "bob")
        draft.raw = [7]
        let kept = try await store.keep(draft)
        #expect(kept.user?.value == "bob" && kept.metadata == nil && kept.identifierForVendor == nil)
        _ = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(2))
        #expect(try found(in: folder).isEmpty)
        #expect(try await store.receipt(app: "coins", id: "r1")?.user?.value == "bob")
        await store.close()
    }

    @Test func `a receipt that still waits teaches nothing of a user who was erased meanwhile`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let kept = try await store.keep(try .draft("r1"))
        _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
        let concluded = try await store.conclude(
            ReceiptConclusion(
                kept, outcome: .known([.sample(id: "1", account: "A")]), at: CaseModel.time(2), isTimeCertain: true,
                nextAttemptAt: CaseModel.time(3), usersPerTransaction: 3))
        #expect(concluded?.state == .confirmed && concluded?.user == nil)
        #expect(try await store.links(app: "coins", user: try UserID("alice")).isEmpty)
        await store.close()
    }

    /// The statements that are put again and again, and the index that each must use.
    @Test func `the queue and the lists find their rows by indexes`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for (sql, index) in [
            (
                "SELECT min(nextAttemptAt) FROM receipt WHERE app = ? AND environment IS ? AND nextAttemptAt IS NOT NULL",
                "receiptDue"
            ),
            ("SELECT position FROM receipt WHERE app = ? AND user = ? ORDER BY position DESC LIMIT ?", "receiptByUser"),
            (
                "SELECT position FROM receipt WHERE app = ? AND state = 'fraud' ORDER BY position DESC LIMIT ?",
                "receiptFraud"
            ),
            ("SELECT count(*) FROM receiptUser WHERE app = ? AND identifier = ?", "PRIMARY KEY"),
            ("SELECT min(position) FROM receipt WHERE app = ? AND createdAt >= ?", "receiptByCreation"),
        ] {
            let plan = try await store.pool.read { database in
                try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN \(sql)",
                    arguments: StatementArguments(Array(repeating: 1, count: sql.count { $0 == "?" }))
                ).map { row in row["detail"] as String }.joined(separator: "; ")
            }
            #expect(plan.contains(index) && !plan.contains("SCAN"), "\(sql): \(plan)")
        }
        await store.close()
    }
}
