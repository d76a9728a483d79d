import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What callers were told must hold when the disk does not.
struct DeliveryFailureTests {
    private func execute(_ sql: String, on store: SQLiteStore) async throws {
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Lets many callers bring a delivery each, at once.
    ///
    /// - Returns: the ids of those that were accepted; the others were told that the store is unavailable.
    private func acceptMany(_ ids: [String], on store: SQLiteStore) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for id in ids {
                group.addTask {
                    let key = IdempotencyKey(caller: "shop", app: "coins", route: "/", key: id)
                    let body = String(repeating: "x", count: 600)
                    let draft = try DeliveryDraft.sample(id, transaction: id, body: body, key: key)
                    do throws(ServiceError) {
                        guard case .created = try await store.accept(draft).decision else { return nil }
                        return id
                    } catch {
                        #expect(error.reason == .storeUnavailable)
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { if let id = $1 { $0.insert(id) } }
        }
    }

    private func ids(_ column: String, of table: String, in store: SQLiteStore) async throws -> Set<String> {
        try await store.read("list") { try String.fetchSet($0, sql: "SELECT \(column) FROM \(table)") }
    }

    private func expectWhole(_ accepted: Set<String>, in store: SQLiteStore) async throws {
        #expect(try await ids("id", of: "delivery", in: store) == accepted)
        #expect(try await ids("deliveryId", of: "idempotencyKey", in: store) == accepted)
        #expect(try await ids("subject", of: "event", in: store) == accepted)
    }

    @Test func `a disk that fills up takes whole deliveries or none, and it goes on when there is room`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let pages = try await store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        try await execute("PRAGMA max_page_count = \(try #require(pages) + 20)", on: store)
        var accepted: Set<String> = []
        for round in 0..<20 {
            accepted.formUnion(try await acceptMany((0..<10).map { "\(round)-\($0)" }, on: store))
            try await expectWhole(accepted, in: store)
        }
        #expect((1..<200).contains(accepted.count), "some room, then none")
        #expect(await store.isUsable(), "a write that needs no room")
        let claimed = try await store.claim(at: 0, limit: 1)
        #expect(claimed.count <= 1)
        try await execute("PRAGMA max_page_count = 1073741823", on: store)
        let later = (0..<200).map { "later \($0)" }
        #expect(try await acceptMany(later, on: store).count == 200)
        try await expectWhole(accepted.union(later), in: store)
    }

    @Test func `a read-only store takes nothing over, claims nothing and concludes nothing, but can be read`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        #expect(try await acceptMany(["1", "2"], on: store).count == 2)
        let claimed = try #require(try await store.claim(at: 0, limit: 1).first)
        try await execute("PRAGMA query_only = ON", on: store)
        #expect(try await acceptMany(["3", "4"], on: store).isEmpty)
        await #expect(throws: ServiceError.self) { try await store.claim(at: 0) }
        await #expect(throws: ServiceError.self) { try await store.conclude(claimed.id, .accepted, at: 0) }
        await #expect(throws: ServiceError.self) { try await store.recordConsent(try .sample("bob", false)) }
        try await expectWhole(["1", "2"], in: store)
        #expect(try await store.delivery(app: "coins", id: claimed.id)?.state == .sending)
        try await execute("PRAGMA query_only = OFF", on: store)
        #expect(try await acceptMany(["3", "4"], on: store).count == 2)
        #expect(try await store.conclude(claimed.id, .accepted, at: 0)?.state == .accepted)
    }

    @Test func `whoever cannot make hashes of erased users erases none who withdrew, and says nothing of them`()
        async throws
    {
        let folder = try StoreFolder()
        let without = try await SQLiteStore.open(at: folder.path)
        _ = try await without.recordConsent(try .sample("alice", false))
        let alice = try UserID("alice")
        await #expect(throws: ServiceError.self) {
            try await without.eraseUser(app: "coins", user: alice, at: CaseModel.time(1))
        }
        #expect(try await without.consentHistory(app: "coins", user: alice).count == 1)
        await without.close()
        let with = try await folder.open()
        #expect(try await with.eraseUser(app: "coins", user: alice, at: CaseModel.time(1)).isWithdrawalKept)
        await with.close()
        let again = try await SQLiteStore.open(at: folder.path)
        await #expect(throws: ServiceError.self) { try await again.objection(to: .sample(user: "alice")) }
        await #expect(throws: ServiceError.self) { try await again.accept(.sample("1", user: "alice")) }
        await again.close()
        // The key of the hashes is kept, so that they recognise the user after a restart.
        let later = try await folder.open()
        #expect(try await later.objection(to: .sample(user: "alice")) == .objection(.withdrawn(alice)))
    }

    @Test func `what an erasure leaves does not tell the user or its purchases`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let secrets = ["alice-the-user", "77000000000001"]
        _ = try await store.declare(try .sample(.transactionId, secrets[1], user: secrets[0]), transfer: false)
        _ = try await store.recordConsent(try .sample(secrets[0], false))
        _ = try await store.eraseUser(app: "coins", user: try UserID(secrets[0]), at: CaseModel.time(1))
        try await store.read("look") { connection in
            let database = try connection.sqlite()
            let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            for table in tables {
                let rows = try Row.fetchAll(database, sql: "SELECT * FROM \"\(table)\"")
                for value in rows.flatMap(\.databaseValues) {
                    let text = Data.fromDatabaseValue(value).map { String(decoding: $0, as: UTF8.self) }
                    for secret in secrets { #expect(text?.contains(secret) != true, "\(table)") }
                }
            }
        }
    }
}
