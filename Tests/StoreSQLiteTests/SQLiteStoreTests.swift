import Domain
import Foundation
import GRDB
import StoreSQLite
import TestSupport
import Testing

struct SQLiteStoreTests {
    @Test func `commits are synced in full and the log is written ahead`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        #expect(try await store.writerPragma("synchronous") == "2")
        #expect(try await store.writerPragma("journal_mode") == "wal")
        #expect(try await store.writerPragma("foreign_keys") == "1")
    }

    @Test func `the file is ours alone`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
        for name in ["purser.db", "purser.db-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: name).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func `a second daemon on the same file is refused by name, until the first has closed it`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        do {
            _ = try await folder.open()
            Issue.record("opened twice")
        } catch let error as ServiceError {
            #expect(error.message.contains(folder.path))
            #expect(error.message.contains("process \(getpid())"))
        }
        _ = try await first.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
        await first.close()
        let second = try await folder.open()
        #expect(try await second.links(app: "coins", user: try UserID("alice")).count == 1)
    }

    @Test func `a missing folder and a file that is no database are told apart`()
        async throws
    {
        let folder = try StoreFolder()
        let missing = folder.url.appending(path: "none/purser.db").path
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await SQLiteStore.open(at: missing) }
        try Data("this is not a database, but long enough to be looked at as one".utf8)
            .write(to: URL(filePath: folder.path))
        do {
            _ = try await folder.open()
            Issue.record("opened")
        } catch let error as ServiceError {
            #expect(error.message.contains("not a database"))
        }
    }

    @Test func `a database of a newer version is refused by name`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open()).close()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999 from the future')") }
        try queue.close()
        do {
            _ = try await folder.open()
            Issue.record("opened")
        } catch let error as ServiceError {
            #expect(error.message.contains("newer version"))
        }
    }

    @Test func `a full disk is a 503 that passes`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.limitPages(toCurrent: true)
        let long = String(repeating: "x", count: 100)
        var failure: ServiceError?
        for number in 0..<2000 where failure == nil {
            do throws(ServiceError) {
                let link = Link(
                    app: "coins", user: try UserID("u\(number)"),
                    target: LinkTarget(.transactionId, "\(number)-\(long)"),
                    environment: nil, source: .declared, validFrom: nil, validUntil: nil, createdAt: Date(),
                    createdBy: long)
                _ = try await store.declare(link, transfer: false)
            } catch {
                failure = error
            }
        }
        #expect(failure?.reason == .storeUnavailable)
        #expect(failure?.message.contains("full") == true)
        #expect(failure?.cause?.contains("xxx") == false, "arguments stay out of errors")
        try await store.limitPages(toCurrent: false)
        _ = try await store.declare(try Link.sample(.transactionId, "after", user: "alice"), transfer: false)
        #expect(await store.isUsable())
    }

    @Test func `the heartbeat comes back at once, and also while a write takes its time`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        await store.heartbeat()
        let gate = DispatchSemaphore(value: 0)
        async let slow: Void = store.occupyWriter(until: gate)
        await store.heartbeat()
        gate.signal()
        try await slow
        #expect(await store.isUsable())
    }

    @Test func `no query walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let queries = [
            "SELECT * FROM link WHERE app = 'a' AND user = 'u' ORDER BY id",
            "SELECT * FROM link WHERE app = 'a' AND kind = 'k' AND value IN ('1', '2')",
            "SELECT DISTINCT user FROM link WHERE app = 'a' AND validUntil IS NULL AND userFolded IN ('x', 'y')",
            "SELECT identifier FROM knownIdentifier WHERE app = 'a' AND identifier IN ('1', '2')",
            "SELECT value FROM installationKey WHERE name = 'n'",
        ]
        for query in queries {
            let plan = try await store.plan(of: query)
            #expect(!plan.contains("SCAN"), "\(query): \(plan)")
        }
    }

    @Test func `an installation key is made once and kept`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        #expect(try await first.installationKey(name: "pageToken") { [1, 2, 3] } == [1, 2, 3])
        #expect(try await first.installationKey(name: "pageToken") { [9] } == [1, 2, 3])
        await first.close()
        let second = try await folder.open()
        #expect(try await second.installationKey(name: "pageToken") { [9] } == [1, 2, 3])
        #expect(try await second.installationKey(name: "other") { [9] } == [9])
    }
}
