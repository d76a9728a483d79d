import Domain
import Foundation
import Postgres
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import StorePostgres
@testable import StoreSQL

/// A store moves from a file into a database whole, or not at all.
@Suite(.needsPostgres)
struct StoreMoveTests {
    /// A folder with a store's file.
    private static func withFile(_ body: (_ path: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-move-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "purser.db").path)
    }

    /// Moves what a file keeps; tells the tables that arrived.
    private static func move(
        _ source: SQLiteStore, to target: PostgresConfiguration, omitting omitted: Int64? = nil,
        digest: @escaping TableDigest.Function = { TestCode.authenticationCode($0) }
    ) async throws -> [PostgresMove.Table] {
        try await source.read("move") { database in
            Result { () throws(PostgresMove.Failure) in
                try PostgresMove.fill(
                    target, from: database, omitting: omitted.map { ("sendingHold", $0) }, digest: digest,
                    progress: { _, _ in })
            }
        }.get()
    }

    private static func rows(_ table: String, in store: PostgresStore) async throws -> Int {
        try await store.read("count") { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    /// What the contracts leave behind: real rows of nearly every table.
    private static let stories: [(name: String, run: @Sendable (SQLiteStore) async throws -> Void)] = {
        var stories: [(String, @Sendable (SQLiteStore) async throws -> Void)] = []
        stories += UserExportContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += UsageStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += ReceiptStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += QuarantineStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } })
        }
        stories += CallbackStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += CallerStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += BudgetStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += ConsentStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += CaseStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        stories += DeliveryStoreContract.cases.map { c in (c.testDescription, { store in try await c.run { store } }) }
        return stories
    }()

    @Test func `what the contracts leave behind arrives, every row of it`() async throws {
        let filled = Mutex<Set<String>>([])
        // A store each: what one story keeps stands in another's way.
        for index in stride(from: 0, to: Self.stories.count, by: 4) {
            let story = Self.stories[index]
            try await Self.withFile { path in
                let source = try await SQLiteStore.open(at: path, secrets: UnsealedSecrets())
                try await story.run(source)
                try await PostgresFixture.run { fixture in
                    let tables = try await Self.move(source, to: fixture.configuration)
                    filled.withLock { $0.formUnion(tables.filter { $0.digest.rowCount > 0 }.map(\.name)) }
                    let target = try await fixture.open()
                    #expect(try await target.checkIntegrity() == [], "\(story.name)")
                    for table in ["event", "notification", "consent", "usage", "receipt", "link", "callerKey"] {
                        let last = try await source.read("look") { try $0.lastPosition(of: table) }
                        let now = try await target.read("look") { try $0.lastPosition(of: table) }
                        #expect(now >= last, "\(story.name): \(table)")
                    }
                }
                await source.close()
            }
        }
        #expect(filled.withLock(\.count) >= 30, "\(filled.withLock { $0.sorted() })")
    }

    @Test func `a moved store goes on where the file ended`() async throws {
        try await Self.withFile { path in
            let source = try await SQLiteStore.open(at: path, secrets: UnsealedSecrets())
            for number in 1...3 {
                _ = try await source.record(.sample("n\(number)", transaction: .sample(id: "\(number)")))
            }
            let bounds = try await source.eventBounds()
            try await PostgresFixture.run { fixture in
                _ = try await Self.move(source, to: fixture.configuration)
                let target = try await fixture.open()
                #expect(try await target.eventBounds() == bounds)
                #expect(try await target.events(after: 0, limit: 10) == source.events(after: 0, limit: 10))
                _ = try await target.record(.sample("n3", transaction: .sample(id: "3")))
                #expect(try await target.eventBounds() == bounds)
                _ = try await target.record(.sample("n4", transaction: .sample(id: "4")))
                #expect(try await target.eventBounds().latest > bounds.latest)
                try await fixture.expectNoWalks()
            }
            await source.close()
        }
    }

    /// Signs that a text form would have to escape, every byte, and more than a buffer holds.
    @Test func `values arrive byte for byte, however large`() async throws {
        let texts = [
            "", "\\N", "\\.", "a\tb\nc\r", "'\"\\", "naïve 👩‍👩‍👧 \u{10FFFF}", String(repeating: "ä", count: 300_000),
        ]
        let blobs = [[], [0], Array(0...255), (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }]
        try await Self.withFile { path in
            let source = try await SQLiteStore.open(at: path)
            try await source.write("test") { database in
                for (index, text) in texts.enumerated() {
                    try SendingHoldRow.insert(
                        SendingHold(since: CaseModel.time(Double(index)), reason: text), into: database)
                }
                for (index, blob) in blobs.enumerated() {
                    try database.execute(
                        sql: "INSERT INTO installationKey (name, value) VALUES (?, ?)",
                        arguments: ["\(index)", Data(blob)])
                }
            }
            try await PostgresFixture.run { fixture in
                _ = try await Self.move(source, to: fixture.configuration)
                let target = try await fixture.open(nil)
                for question in [
                    "SELECT name, value FROM installationKey ORDER BY name",
                    "SELECT reason FROM sendingHold ORDER BY position",
                ] {
                    let sent = try await source.read("look") { try SQLRow.fetchAll($0, sql: question).map(\.values) }
                    let arrived = try await target.read("look") { try SQLRow.fetchAll($0, sql: question).map(\.values) }
                    #expect(sent == arrived && sent.count >= blobs.count)
                }
            }
            await source.close()
        }
    }

    @Test func `a hold of the move's own stays behind`() async throws {
        try await Self.withFile { path in
            let source = try await SQLiteStore.open(at: path)
            let position = try await source.write("hold") { database in
                for reason in ["restored", "moved"] {
                    try SendingHoldRow.insert(SendingHold(since: CaseModel.time(1), reason: reason), into: database)
                }
                return try database.lastInsertedRowID(of: "sendingHold")
            }
            try await PostgresFixture.run { fixture in
                _ = try await Self.move(source, to: fixture.configuration, omitting: position)
                let target = try await fixture.open()
                let reasons = try await target.read("look") {
                    try String.fetchAll($0, sql: "SELECT reason FROM sendingHold")
                }
                #expect(reasons == ["restored"])
            }
            await source.close()
        }
    }

    @Test func `a database that is in use, not empty, or changes what it is sent is left as it was`() async throws {
        try await Self.withFile { path in
            let source = try await SQLiteStore.open(at: path, secrets: UnsealedSecrets())
            _ = try await source.record(.sample("n", transaction: .sample(id: "1")))
            func refusal(
                _ fixture: PostgresFixture,
                _ digest: @escaping TableDigest.Function = { TestCode.authenticationCode($0) }
            ) async throws -> String {
                let failure = await #expect(throws: PostgresMove.Failure.self) {
                    try await Self.move(source, to: fixture.configuration, digest: digest)
                }
                #expect(failure?.mayHaveHappened == false)
                return failure?.error.message ?? ""
            }
            try await PostgresFixture.run { fixture in
                let daemon = try await PostgresStore.open(fixture.configuration)
                #expect(try await refusal(fixture).contains("another daemon has it"))
                await daemon.close()
            }
            try await PostgresFixture.run { fixture in
                let target = try await fixture.open(nil)
                _ = try await target.record(.sample("other", transaction: .sample(id: "2")))
                await target.close()
                #expect(try await refusal(fixture).contains("not empty"))
                #expect(try await Self.rows("notification", in: try await fixture.open(nil)) == 1)
            }
            try await PostgresFixture.run { fixture in
                // A digest that never comes out the same stands for a value that does not.
                let count = Mutex<UInt8>(0)
                let message = try await refusal(fixture) { _ in
                    count.withLock { count in
                        count &+= 1
                        return [count]
                    }
                }
                #expect(message.contains("is not what was sent"))
                let target = try await fixture.open(nil)
                #expect(try await Self.rows("notification", in: target) == 0)
                #expect(try await Self.rows("migration", in: target) > 0)
            }
            await source.close()
        }
    }
}
