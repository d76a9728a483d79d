import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import StorePostgres
@testable import StoreSQL

/// A database that was put back sends nothing until an operator says so.
@Suite(.needsPostgres)
struct StoreOriginTests {
    private static func hold(_ store: PostgresStore) async throws -> String? {
        try await store.read("look") { try SendingHoldRow.fetch(from: $0)?.reason }
    }

    private static func setting(_ name: String, _ store: PostgresStore) async throws -> String? {
        try await store.write("look") { try String.fetchOne($0, sql: "SELECT current_setting('\(name)')") }
    }

    @Test(
        arguments: [
            (nil, nil, nil, false), (nil, nil, "here", false), (nil, nil, "there", true), (5, 5, "here", false),
            // One commit whose end nobody heard of.
            (5, 6, "here", false), (5, 4, "here", true), (5, nil, "here", true),
            // A server was promoted, and has all that this process knows of.
            (5, 5, "there", false), (0, nil, "here", false),
        ] as [(Int64?, Int64?, String?, Bool)])
    func `what is gone, or stands elsewhere without a witness, holds sending`(
        known: Int64?, counted: Int64?, kept: String?, isHeld: Bool
    ) {
        let loss = StoreOrigin.loss(known: known, counted: counted, kept: kept, present: "here")
        #expect((loss != nil) == isHeld)
    }

    @Test func `a dump that is put back holds sending, and begins another epoch`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            _ = try await store.record(.sample("n", transaction: .sample(id: "1")))
            let bounds = try await store.eventBounds()
            #expect(try await Self.hold(store) == nil)
            let server = try await PostgresServer.running()
            let restored = try await PostgresStore.open(
                try await server.putBack(fixture.configuration), secrets: UnsealedSecrets())
            #expect(try await Self.hold(restored)?.contains("put back from a backup") == true)
            let now = try await restored.eventBounds()
            #expect(now.latest == bounds.latest && now.epoch != bounds.epoch)
            #expect(try await restored.checkIntegrity() == [])
            await restored.close()
            // The next start finds it where it was.
            let again = try await fixture.open()
            #expect(try await Self.hold(again) == nil)
        }
    }

    @Test func `a recovery to an earlier moment, by a backup and the archive, holds sending and begins another epoch`()
        async throws
    {
        let server = try await PostgresServer.startArchiving()
        let configuration = try await server.makeDatabase()
        let store = try await PostgresStore.open(configuration, secrets: UnsealedSecrets())
        _ = try await store.record(.sample("backed up", transaction: .sample(id: "1")))
        let backup = try await server.backUp()
        _ = try await store.record(.sample("archived", transaction: .sample(id: "2")))
        try await server.nameMoment("before")
        _ = try await store.record(.sample("lost", transaction: .sample(id: "3")))
        let bounds = try await store.eventBounds()
        await store.close()
        let recovered = try await server.recover(backup, to: "before")
        let other = try await PostgresStore.open(
            recovered.configuration(of: configuration.database), secrets: UnsealedSecrets())
        #expect(try await Self.hold(other)?.contains("put back") == true)
        let kept = try await other.unprocessedNotifications(limit: 9)
        #expect(kept.map(\.notification.notificationUUID) == ["backed up", "archived"])
        #expect(try await other.eventBounds().epoch != bounds.epoch)
        #expect(try await other.checkIntegrity() == [])
        await other.close()
        try await recovered.stop()
        try await server.stop()
    }

    @Test func `once it was released it stays so`() async throws {
        try await PostgresFixture.run { fixture in
            await (try await fixture.open()).close()
            let other = try await PostgresServer.running().putBack(fixture.configuration)
            for isHeld in [true, false] {
                let store = try await PostgresStore.open(other, secrets: UnsealedSecrets())
                #expect((try await Self.hold(store) != nil) == isHeld)
                try await store.write("release") {
                    try SendingHoldRow.release(by: "operator", at: CaseModel.time(1), in: $0)
                }
                await store.close()
            }
        }
    }

    @Test func `a commit that is gone holds sending while the daemon runs`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            let epoch = try await store.eventBounds().epoch
            #expect(await store.isUsable())
            // What a server that lacked the last commit would have.
            let other = try await fixture.open()
            try await other.write("lose") { try $0.execute(sql: "UPDATE writer SET turns = turns - 1") }
            #expect(await store.isUsable())
            #expect(try await Self.hold(store) == nil)
            try await PostgresServer.running().endConnections(to: fixture.configuration)
            #expect(await store.isUsable())
            #expect(try await Self.hold(store)?.contains("is gone") == true)
            #expect(try await store.eventBounds().epoch != epoch)
        }
    }

    @Test func `a server that was promoted with all that was committed holds nothing`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open()
            #expect(await store.isUsable())
            try await store.write("promote") { try $0.execute(sql: "UPDATE storeOrigin SET origin = 'elsewhere'") }
            try await PostgresServer.running().endConnections(to: fixture.configuration)
            #expect(await store.isUsable())
            #expect(try await Self.hold(store) == nil)
            // The others need not know where it was.
            let next = try await fixture.open()
            #expect(try await Self.hold(next) == nil)
        }
    }

    @Test func `each commit waits for the disk, whatever the server says, and for more where that is said`()
        async throws
    {
        try await PostgresFixture.run { fixture in
            #expect(try await Self.setting("synchronous_commit", try await fixture.open()) == "on")
            let server = try await PostgresServer.running()
            let name = fixture.configuration.database
            try await server.run("ALTER DATABASE \(name) SET synchronous_commit = remote_apply")
            #expect(try await Self.setting("synchronous_commit", try await fixture.open()) == "remote_apply")
            try await server.run("ALTER DATABASE \(name) SET synchronous_commit = off")
            let store = try await fixture.open()
            try await server.endConnections(to: fixture.configuration)
            #expect(try await Self.setting("synchronous_commit", store) == "on")
        }
    }
}
