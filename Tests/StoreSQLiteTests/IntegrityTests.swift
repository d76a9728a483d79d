import Domain
import Foundation
import GRDB
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

struct IntegrityTests {
    /// A store with one of each, closed.
    private func folder() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.take(.sample("a"), .sample("b", transaction: .sample(id: "2")))
        try await store.take(.sample("d", type: "REFUND", at: 1))
        _ = try await store.accept(.sample("delivery", caseID: "case-b", transaction: "2"))
        await store.close()
        return folder
    }

    @Test func `a store that no daemon has open can be looked at, and is not changed`() async throws {
        let folder = try await folder()
        let before = try Data(contentsOf: URL(filePath: folder.path))
        #expect(try StoreCheck.check(folder.path) == [])
        #expect(try Data(contentsOf: URL(filePath: folder.path)) == before)
        let store = try await folder.open()
        #expect(throws: ServiceError.self) { try StoreCheck.check(folder.path) }
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func `a pipe in the place of a store or a backup is refused without waiting`() throws {
        let folder = try StoreFolder()
        let pipe = "\(folder.path).pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: ServiceError.self) { try StoreCheck.check(pipe) }
        #expect(error?.message.contains("it is not a file") == true)
        #expect(throws: ServiceError.self) { try StoreRestore.restore(from: pipe, to: folder.path, at: Date()) }
    }

    @Test(arguments: [
        ("DELETE FROM caseRequest WHERE caseId = 'case-a'", "without a request"),
        ("UPDATE refundCase SET outcome = NULL WHERE state = 'decided'", "outcome disagree"),
        ("UPDATE refundCase SET closedAt = 1 WHERE state = 'open'", "end disagree"),
        ("UPDATE refundCase SET state = 'declined' WHERE state = 'decided'", "without its decline"),
        ("DELETE FROM notificationContent", "without its content"),
        ("INSERT INTO deliveryCount (app, state, count) VALUES ('none', 'queued', 1)", "that is wrong"),
        ("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'event'", "behind the latest position"),
        ("DELETE FROM notification", "refers to one that is not there"),
    ])
    func `what cannot be is named`(damage: String, name: String) async throws {
        let folder = try await folder()
        try folder.copy(folder.path, to: "damaged.db") { try $0.execute(sql: damage) }
        let faults = try StoreCheck.check(folder.file("damaged.db"))
        #expect(faults.contains { $0.contains(name) }, "\(faults)")
        #expect(try !folder.names().contains("damaged.db.lock"))
    }

    @Test func `damaged pages are found`() async throws {
        let folder = try await folder()
        var bytes = try Data(contentsOf: URL(filePath: folder.path))
        // Not the first pages, without which nothing can be opened.
        for index in stride(from: 5 * 4096, to: bytes.count, by: 1024) {
            bytes.replaceSubrange(index..<index + 16, with: repeatElement(0xA5, count: 16))
        }
        try bytes.write(to: URL(filePath: folder.file("damaged.db")))
        let faults = (try? StoreCheck.check(folder.file("damaged.db"))) ?? ["cannot be read"]
        #expect(!faults.isEmpty)
    }
}
