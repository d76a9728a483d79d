import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// The secrets that a store keeps of its own: sealed, and never without the key that what it keeps depends on.
struct InstallationSecretTests {
    private let rightKey = UnsealedSecrets(masterKeyID: "one")
    private let wrongKey = UnsealedSecrets(masterKeyID: "two")
    private let accepting = UnsealedSecrets(masterKeyID: "two", acceptedLosses: ["one"])
    private let bothKeys = UnsealedSecrets(masterKeyID: "one", earlier: ["two"])
    private let reason = "is sealed under master key one, and the one given is two"

    private let page = Array("page".utf8)

    private func pageCode(_ store: SQLiteStore) throws -> [UInt8] {
        let code = try #require(store.secrets.pageTokenCode)
        return code(page)
    }

    @Test func `they are made once, kept sealed, and the same after a restart`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        #expect(first.secrets.states == [.tombstones: .open, .pageToken: .open])
        let code = try pageCode(first)
        await first.close()
        let second = try await folder.open()
        #expect(second.secrets.states == [.tombstones: .open, .pageToken: .open])
        #expect(try pageCode(second) == code)
        let clear = try await second.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM installationKey") }
        #expect(clear == 0)
        #expect(try await second.sealedSecrets().map(\.name) == ["pageToken", "tombstones"])
    }

    /// Which of some bytes stand in a file of the store.
    private func found(_ secrets: [[UInt8]], in folder: StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil).flatMap { file in
            let bytes = try Data(contentsOf: file)
            return secrets.filter { bytes.range(of: Data($0)) != nil }.map { _ in file.lastPathComponent }
        }
    }

    @Test func `what the release before kept in clear is sealed, and in no byte of any file`() async throws {
        let folder = try StoreFolder()
        var secrets: [String: [UInt8]] = [:]
        try folder.withForeignConnection { database in
            try database.execute(sql: try ReleaseBefore.statements())
            for row in try Row.fetchAll(database, sql: "SELECT name, value FROM installationKey") {
                secrets[row["name"]] = Array(row["value"] as Data)
            }
        }
        let issuer = secrets.removeValue(forKey: "callerKeyIssuer")
        #expect(secrets.keys.sorted() == ["pageToken", "tombstones"])
        #expect(try found(Array(secrets.values), in: folder).count == 2)

        let store = try await folder.open()
        #expect(store.secrets.states == [.tombstones: .sealed, .pageToken: .sealed])
        #expect(try found(Array(secrets.values), in: folder) == [], "while it is open")
        let code = try pageCode(store)
        let key = try #require(secrets["pageToken"])
        #expect(code == TestCode.authenticationCode(key + page))
        #expect(try await store.installationIdentifier(name: "callerKeyIssuer") { [] } == issuer)
        let copy = try StoreFolder()
        try await store.backup(to: copy.path, at: ReleaseBefore.now)
        await store.close()
        #expect(try found(Array(secrets.values), in: folder) == [], "after it was closed")
        #expect(try found(Array(secrets.values), in: copy) == [], "in a backup")
        let again = try await folder.open()
        #expect(again.secrets.states == [.tombstones: .open, .pageToken: .open])
    }

    /// Every row of the table of sealed secrets.
    private func rows(_ folder: StoreFolder) throws -> [SealedSecretRecord] {
        var rows: [SealedSecretRecord] = []
        try folder.withForeignConnection { rows = try SealedSecretRow.fetchAll(from: GRDBConnection($0)) }
        return rows
    }

    @Test func `another master key is refused and nothing changes`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open(rightKey)
        let code = try pageCode(first)
        await first.close()
        let before = try rows(folder)
        for _ in 0..<2 {
            let error = await #expect(throws: ServiceError.self) { try await folder.open(wrongKey) }
            #expect(error?.message.contains("master key one") == true)
            #expect(try rows(folder) == before)
        }
        let again = try await folder.open(rightKey)
        #expect(try pageCode(again) == code)
    }

    @Test func `an accepted loss sets secrets aside, and the old master key opens them later`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open(rightKey)
        let code = try pageCode(first)
        await first.close()
        let before = try rows(folder)

        let second = try await folder.open(accepting)
        for (secret, state) in second.secrets.states {
            #expect(state == .replaced(because: "secret \(secret.rawValue) \(reason)"))
        }
        let newCode = try pageCode(second)
        #expect(newCode != code)
        #expect(try await second.sendingHold() == nil)
        await second.close()
        let after = try rows(folder)
        for record in before {
            #expect(
                after.contains {
                    $0.originalName == record.name && $0.sealed == record.sealed && $0.name != record.name
                })
        }
        // The acceptance lasts: the option is needed once.
        let third = try await folder.open(wrongKey)
        #expect(third.secrets.states == [.tombstones: .open, .pageToken: .open])
        #expect(try pageCode(third) == newCode)
        await third.close()

        let fourth = try await folder.open(bothKeys)
        #expect(try pageCode(fourth) == newCode)
        let aside = try #require(try rows(folder).first { $0.name.hasPrefix("pageToken@") })
        #expect(try bothKeys.authenticator(aside)(page) == code)
        await fourth.close()
        // The old master key is back, so that its acceptance is over.
        await #expect(throws: ServiceError.self) { try await folder.open(wrongKey) }
    }

    @Test func `only what is sealed under the lost master key is set aside`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open(rightKey)).close()
        try folder.withForeignConnection {
            try $0.execute(sql: "UPDATE sealedSecret SET masterKeyId = 'two' WHERE name = 'pageToken'")
        }
        let store = try await folder.open(UnsealedSecrets(masterKeyID: "one", acceptedLosses: ["two"]))
        #expect(store.secrets.pageTokenCode != nil)
        #expect(store.secrets.states[.tombstones] == .open)
        await store.close()
        #expect(try rows(folder).map(\.name) == ["pageToken", "pageToken@two", "tombstones"])
    }

    @Test func `the inventory of a store names what each master key opens`() async throws {
        let folder = try StoreFolder()
        #expect(try StoreCheck.sealedInventory(folder.path) == SealedInventory())
        await (try await folder.open(rightKey)).close()
        let inventory = try StoreCheck.sealedInventory(folder.path)
        #expect(inventory.names == ["one": ["secret pageToken", "secret tombstones"]])
        #expect(inventory.ownMasterKeyIDs == ["one", "one"])
        #expect(inventory.missing { $0 == "one" } == [])
        #expect(inventory.missing { _ in false } == ["one"])
    }

    /// A store in which alice was erased after she withdrew, an account's consent was rescinded, and bob's answer waits.
    private func fill(_ folder: StoreFolder) async throws {
        let store = try await folder.open(rightKey)
        _ = try await store.recordConsent(.sample("alice", false))
        _ = try await store.eraseUser(app: "coins", user: UserID("alice"), at: CaseModel.time(0))
        try await store.take(.sample("r", type: "RESCIND_CONSENT", transaction: .sample(id: "7", account: "704")))
        try await store.queue(.sample("d", transaction: "1", user: "bob"))
        await store.close()
    }

    @Test func `nothing is sent or accepted while nobody can tell who has withdrawn, and then it goes on`() async throws
    {
        let folder = try StoreFolder()
        try await fill(folder)
        let closed = try await folder.open(accepting)
        #expect(closed.secrets.states[.tombstones] == .closed(because: "secret tombstones \(reason)"))
        let hold = try #require(try await closed.sendingHold())
        #expect(hold.reason.contains(reason) && !hold.isReleasable)
        #expect(try await closed.releaseSending(by: "operator", at: CaseModel.time(1)) == nil)
        #expect(try await closed.sendingHold() == hold)
        #expect(try await closed.claim(at: 1).isEmpty)
        let unknown = ServiceError(.consentUnknown, "")
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        let waiting = try #require(try await closed.delivery(app: "coins", id: "d"))
        await #expect(throws: unknown) { try await closed.accept(.sample("e", transaction: "2", user: "carol")) }
        await #expect(throws: unknown) { try await closed.obstacle(to: waiting, at: CaseModel.time(1)) }
        // What would have to be compared with what is left, or to be left.
        await #expect(throws: unknown) { try await closed.recordConsent(.sample("alice", true)) }
        _ = try await closed.recordConsent(.sample("bob", false))
        await #expect(throws: unknown) {
            try await closed.eraseUser(app: "coins", user: bob, at: CaseModel.time(1))
        }
        let rescission = StoredNotification.sample(
            "s", type: "RESCIND_CONSENT", transaction: .sample(id: "8", account: "705"))
        _ = try await closed.record(rescission)
        await #expect(throws: unknown) {
            try await closed.process(rescission, newCaseID: "case-s", at: CaseModel.time(1))
        }
        // Everything else goes on.
        #expect(try await closed.consentHistory(app: "coins", user: bob).count == 1)
        #expect(try await closed.delivery(app: "coins", id: "d")?.state == .cancelled)
        try await closed.take(.sample("n", transaction: .sample(id: "9")))
        #expect(try await closed.refundCases(app: "coins", CaseQuery()).count == 1)
        #expect(closed.secrets.pageTokenCode != nil)
        await closed.close()

        let open = try await folder.open(bothKeys)
        #expect(open.secrets.states[.tombstones] == .open)
        #expect(try await open.sendingHold() == nil)
        #expect(try await open.objection(to: .sample(user: "alice")) == .objection(.withdrawn(alice)))
        _ = try await open.process(rescission, newCaseID: "case-s", at: CaseModel.time(2))
        try await open.queue(.sample("e", transaction: "2", user: "carol"))
        #expect(try await open.claim(at: 2).map(\.id) == ["e"])
    }

    @Test func `a key that is gone is missed, and no other one takes its place`() async throws {
        let folder = try StoreFolder()
        try await fill(folder)
        try folder.withForeignConnection { try $0.execute(sql: "DELETE FROM sealedSecret WHERE name = 'tombstones'") }
        for _ in 0..<2 {
            let store = try await folder.open(rightKey)
            #expect(
                store.secrets.states[.tombstones]
                    == .closed(because: "\(InstallationSecret.tombstones.purpose) is missing"))
            #expect(try await store.sendingHold() != nil)
            await store.close()
        }
    }
}
