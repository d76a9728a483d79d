import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// A daemon whose store is a database of PostgreSQL's.
@Suite(.needsPostgres)
struct PostgresStoryTests {
    private static func options() async throws -> DaemonFixture.Options {
        var options = DaemonFixture.notified
        options.store = .postgres(try await PostgresServer.running().makeDatabase())
        return options
    }

    @Test func `a request opens a case that its owner's answer closes, and Apple decides`() async throws {
        try await DaemonFixture.with(Self.options()) { fixture in
            let (user, _, gems) = try await fixture.customer()
            try await fixture.event("notification.received", about: gems)
            let start = try await fixture.eventTypes().count
            let opened = try await fixture.requestRefund(of: gems, reason: .fulfillmentIssue)
            #expect(opened["state"] == "open" && opened["owner"] == .string(user))
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/users/\(user)/consumption",
                body: DaemonFixture.consumption(("refundPreference", "DECLINE")))
            #expect(reply.status == 200)
            #expect(try reply.json["state"] == "accepted" && reply.json["caseId"] == opened["id"])
            #expect(fixture.received(gems).count == 1)
            try fixture.simulator.state.decideRefund(of: gems, .decline)
            try await fixture.event("case.decided", about: gems)
            #expect(try await fixture.refundCase(of: gems)["outcome"] == "refundDeclined")
            #expect(
                try await Array(fixture.eventTypes().dropFirst(start)) == [
                    "notification.received", "case.opened", "delivery.queued", "delivery.accepted",
                    "case.answered",
                    "notification.received", "case.decided",
                ])
            #expect(try await fixture.send("GET", "\(fixture.health)/readyz").status == 200)
        }
    }

    @Test func `without its database it says so, refuses what it would have to keep, and is ready again by itself`()
        async throws
    {
        let server = try await PostgresServer.running()
        let options = try await Self.options()
        guard case .postgres(let database) = options.store else { return }
        try await DaemonFixture.with(options) { fixture in
            let links = "\(DaemonFixture.app)/users/alice/links"
            #expect(try await fixture.send("PUT", "\(links)/transactionId/1").status < 300)
            try await server.setAway(true, database)
            try await Wait.until("the daemon to notice") {
                try await fixture.send("GET", "\(fixture.health)/readyz").status == 503
            }
            // It lives: a restart would not help.
            #expect(try await fixture.send("GET", "\(fixture.health)/livez").status == 200)
            let refused = try await fixture.send("PUT", "\(links)/transactionId/2")
            #expect(refused.status == 503)
            #expect(try refused.json["reason"] == "STORE_UNAVAILABLE")
            try await server.setAway(false, database)
            try await Wait.until("the daemon to be ready again") {
                try await fixture.send("GET", "\(fixture.health)/readyz").status == 200
            }
            #expect(try await fixture.send("PUT", "\(links)/transactionId/3").status < 300)
            let kept = try await fixture.send("GET", links)
            #expect(kept.status == 200, "\(String(decoding: kept.body, as: UTF8.self))")
            #expect(try kept.json["links"]?.array?.compactMap { $0["value"]?.string }.sorted() == ["1", "3"])
        }
    }

    @Test func `what was kept is there after a restart, and after the server has ended all connections`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let options = try await Self.options()
        do {
            try await DaemonFixture.run(options, folder, simulator) { fixture in
                _ = try await fixture.send("PUT", "\(DaemonFixture.app)/users/alice/links/transactionId/1")
            }
            try await DaemonFixture.run(options, folder, simulator) { fixture in
                guard case .postgres(let database) = options.store else { return }
                try await PostgresServer.running().endConnections(to: database)
                let links = try await fixture.send("GET", "\(DaemonFixture.app)/users/alice/links").json["links"]
                #expect(links?.array?.map { $0["value"] } == ["1"])
                _ = try await fixture.send("PUT", "\(DaemonFixture.app)/users/alice/links/transactionId/2")
                #expect(try await fixture.send("GET", "\(fixture.health)/readyz").status == 200)
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }
}
