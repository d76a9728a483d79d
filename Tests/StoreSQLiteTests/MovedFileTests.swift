import Domain
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// Files of a store that are gone while it is open: SQLite would go on, and all of it would end with the process.
struct MovedFileTests {
    private func open(_ folder: StoreFolder, _ log: RecordedLog) async throws -> SQLiteStore {
        try await SQLiteStore.open(at: folder.path, secrets: UnsealedSecrets(), logger: log.logger)
    }

    private func failure(_ store: SQLiteStore) async throws -> ServiceError? {
        let link = try Link.sample(.transactionId, "1", user: "alice")
        do throws(ServiceError) {
            _ = try await store.declare(link, transfer: false)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "-wal", "-shm", ".lock"])
    func `nothing is promised while a file is elsewhere, and all goes on when it is back`(suffix: String) async throws {
        let (folder, log) = (try StoreFolder(), RecordedLog())
        let store = try await open(folder, log)
        let (here, elsewhere) = (folder.path + suffix, folder.path + ".elsewhere")
        try FileManager.default.moveItem(atPath: here, toPath: elsewhere)
        for _ in 0..<3 {
            let refusal = try await failure(store)
            #expect(refusal?.reason == .storeUnavailable)
            #expect(refusal?.cause?.contains("\(here) was removed or renamed") == true)
            #expect(await store.isUsable() == false)
        }
        #expect(store.problem?.contains(here) == true)
        // Another file in its place is none of ours.
        try Data("other".utf8).write(to: URL(filePath: here))
        #expect(try await failure(store)?.cause?.contains("another file is at \(here)") == true)
        try FileManager.default.removeItem(atPath: here)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: here)
        #expect(try await failure(store) == nil)
        #expect(await store.isUsable() && store.problem == nil)
        #expect(log.lines.map(\.level) == [.error, .notice], "one line when it begins, one when it ends")
        #expect(log.lines.last?.metadata["failures"] == "7")
    }

    @Test func `what was promised before can be saved from a store that was removed`() async throws {
        let (folder, log) = (try StoreFolder(), RecordedLog())
        let store = try await open(folder, log)
        #expect(try await failure(store) == nil)
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: folder.path + suffix) }
        #expect(try await failure(store)?.reason == .storeUnavailable)
        let saved = folder.url.appending(path: "saved.db").path
        try await store.backup(to: saved, at: Date())
        let copy = try await SQLiteStore.open(at: saved, secrets: UnsealedSecrets())
        let link = try Link.sample(.transactionId, "1", user: "alice")
        #expect(try await copy.links(app: "coins", user: link.user).count == 1)
        await copy.close()
    }

    @Test func `a store that cannot be written is told of once, whatever is tried meanwhile`() async throws {
        let (folder, log) = (try StoreFolder(), RecordedLog())
        let store = try await open(folder, log)
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = ON") }
        for _ in 0..<3 { #expect(await store.isUsable() == false) }
        #expect(log.lines.map(\.message) == ["The store cannot be written: nothing new is accepted until it can"])
        #expect(log.lines.first?.metadata["cause"]?.contains("SQLite 8") == true)
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = OFF") }
        #expect(await store.isUsable())
        #expect(log.lines.map(\.message).last == "The store can be written again" && log.lines.count == 2)
    }
}
