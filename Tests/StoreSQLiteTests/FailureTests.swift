import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct FailureTests {
    /// What `work` throws, nil when it succeeds.
    private func failure(of work: () async throws(ServiceError) -> Void) async -> ServiceError? {
        do throws(ServiceError) {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    private func execute(_ sql: String, on store: SQLiteStore) async throws {
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    @Test func `a full disk is a failure that passes, and no argument gets into it`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let pages = try await store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        try await execute("PRAGMA max_page_count = \(try #require(pages))", on: store)
        let long = String(repeating: "x", count: 60)
        let entries = (0..<10_000).map {
            KnownIdentifier(identifier: "\($0)\(long)", environment: .sandbox, appTransactionID: long)
        }
        let full = await failure { () throws(ServiceError) in try await store.remember(entries, app: "coins") }
        #expect(full?.reason == .storeUnavailable)
        #expect(full?.message.contains("disk is full") == true)
        #expect(full?.cause?.contains("SQLite 13") == true)
        #expect(full?.cause?.contains(long) == false)
        #expect(try await store.known(app: "coins", identifiers: [entries[0].identifier]).isEmpty, "all or nothing")
        try await execute("PRAGMA max_page_count = 1073741823", on: store)
        try await store.remember(entries, app: "coins")
        #expect(await store.isUsable())
    }

    @Test func `a read-only store is told apart`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let link = try Link.sample(.transactionId, "1", user: "alice")
        try await execute("PRAGMA query_only = ON", on: store)
        let refusal = await failure { () throws(ServiceError) in _ = try await store.declare(link, transfer: false) }
        #expect(refusal?.message.contains("read-only") == true)
        #expect(refusal?.cause?.contains("SQLite 8") == true)
        #expect(await store.isUsable() == false)
        #expect(try await store.links(app: "coins", user: link.user).isEmpty)
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may write every file"))
    func `a file that may not be written is refused by name`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open()).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: folder.path)
        #expect(try await folder.failureOfOpening()?.message.contains("Permission denied") == true)
    }

    @Test func `a store that another process holds is told apart, and works when it lets go`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await execute("PRAGMA busy_timeout = 0", on: store)
        let link = try Link.sample(.transactionId, "1", user: "alice")
        let refusal = try await WriteLock.hold(folder.path) {
            await failure { () throws(ServiceError) in _ = try await store.declare(link, transfer: false) }
        }
        #expect(refusal?.message.contains("busy") == true)
        #expect(refusal?.cause?.contains("SQLite 5") == true)
        _ = try await store.declare(link, transfer: false)
    }

    @Test func `a damaged file is told apart`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let entries = (0..<2000).map {
            KnownIdentifier(identifier: "\($0)", environment: .sandbox, appTransactionID: nil)
        }
        try await store.remember(entries, app: "coins")
        await store.close()
        var bytes = try Data(contentsOf: URL(filePath: folder.path))
        bytes.replaceSubrange(4096..., with: Data(repeating: 0xa5, count: bytes.count - 4096))
        try bytes.write(to: URL(filePath: folder.path))
        let refusal = try await folder.failureOfOpening()
        #expect(refusal?.message.contains("damaged") == true)
        #expect(refusal?.cause?.contains("SQLite 11") == true)
    }

    @Test func `a row that this version does not know is damage, not a guess`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let link = try Link.sample(.transactionId, "1", user: "alice")
        for column in ["kind", "source", "environment"] {
            _ = try await store.declare(link, transfer: false)
            try await execute("UPDATE link SET \(column) = 'Elsewhere'", on: store)
            let refusal = await failure { () throws(ServiceError) in
                _ = try await store.links(app: "coins", user: link.user)
            }
            #expect(refusal?.message.contains("damaged") == true, "\(column)")
            #expect(refusal?.cause?.contains(column) == true)
            try await execute("DELETE FROM link", on: store)
        }
    }

    @Test func `a cancelled request changes nothing and says so`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let link = try Link.sample(.transactionId, "1", user: "alice")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { () throws(ServiceError) in _ = try await store.declare(link, transfer: false) }
        }
        #expect(await task.value?.cause?.contains("cancelled") == true)
        #expect(try await store.links(app: "coins", user: link.user).isEmpty)
    }
}
