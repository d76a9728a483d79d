import Domain
import Foundation
import GRDB
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

struct BackupTests {
    private let now = CaseModel.time(1)

    @Test func `a backup made while others write holds what was there when it began, and is a store`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for number in 0..<20 {
            try await store.take(.sample("before \(number)", transaction: .sample(id: "\(number)")))
        }
        let copy = folder.file("backup.db")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<50 { _ = try await store.record(.sample("during \(writer)-\(number)")) }
                }
            }
            group.addTask { try await store.backup(to: copy, at: now) }
            try await group.waitForAll()
        }
        await store.close()
        #expect(try StoreCheck.check(copy) == [])
        let other = try StoreFolder()
        #expect(try StoreRestore.restore(from: copy, to: other.path, at: now) == nil)
        let restored = try await other.open()
        #expect(try await restored.refundCases(app: "coins", CaseQuery()).count == 20)
        for number in 0..<20 {
            #expect(try await restored.notification(app: "coins", uuid: "before \(number)") != nil)
        }
        #expect(try await restored.checkIntegrity() == [])
    }

    @Test func `whatever a backup holds, nothing of it is sent before an operator says so`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.take(.sample("a"))
        guard case .created = try await store.accept(.sample("delivery", caseID: "case-a")).decision else {
            Issue.record("not accepted")
            return
        }
        #expect(try await store.sendingHold() == nil)
        try await store.backup(to: folder.file("backup.db"), at: now)
        #expect(try await store.sendingHold() == nil)
        let claim = DeliveryClaim(worker: "w", now: now, lease: .seconds(3600), limit: 10)
        for isRestored in [false, true] {
            let other = try StoreFolder()
            if isRestored {
                try StoreRestore.restore(from: folder.file("backup.db"), to: other.path, at: CaseModel.time(3))
            } else {
                try FileManager.default.copyItem(atPath: folder.file("backup.db"), toPath: other.path)
            }
            let restored = try await other.open()
            let hold = try #require(try await restored.sendingHold())
            #expect(hold.since == now && !hold.reason.isEmpty)
            #expect(try await restored.claimDeliveries(claim).deliveries.isEmpty)
            #expect(try await restored.delivery(app: "coins", id: "delivery")?.state == .queued)
            #expect(try await restored.releaseSending(by: "root", at: CaseModel.time(4)) == hold)
            #expect(try await restored.claimDeliveries(claim).deliveries.map(\.id) == ["delivery"])
            await restored.close()
        }
    }

    @Test func `only the owner may read a backup, and it is a single file`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let before = try folder.names()
        try await store.backup(to: folder.file("backup.db"), at: now)
        #expect(try folder.permissions(of: "backup.db") == 0o600)
        #expect(try folder.names().subtracting(before) == ["backup.db"])
    }

    @Test func `a file that is there is not touched`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try Data("precious".utf8).write(to: folder.url.appending(path: "backup.db"))
        let before = try folder.names()
        await #expect(throws: ServiceError.self) { try await store.backup(to: folder.file("backup.db"), at: now) }
        #expect(try Data(contentsOf: folder.url.appending(path: "backup.db")) == Data("precious".utf8))
        #expect(try folder.names() == before)
        await #expect(throws: ServiceError.self) { try await store.backup(to: folder.path, at: now) }
        #expect(await store.isUsable())
    }

    @Test func `a backup that fails leaves nothing behind`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.take(.sample("a"))
        try folder.withForeignConnection { try $0.execute(sql: "DELETE FROM caseRequest") }
        let before = try folder.names()
        do throws(ServiceError) {
            try await store.backup(to: folder.file("backup.db"), at: now)
            Issue.record("a damaged copy was kept")
        } catch {
            #expect(error.reason == .storeUnavailable && error.message.contains("without a request"))
        }
        await #expect(throws: ServiceError.self) {
            try await store.backup(to: folder.file("missing/backup.db"), at: now)
        }
        #expect(try folder.names() == before)
    }
}

extension StoreFolder {
    /// A file beside the store.
    func file(_ name: String) -> String { url.appending(path: name).path }

    /// All files.
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: url.path)) }
}
