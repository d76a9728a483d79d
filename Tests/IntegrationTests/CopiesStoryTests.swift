import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Three daemons on one database of PostgreSQL's, as processes of their own.
@Suite(.needsPostgres)
struct CopiesStoryTests {
    private static let app = "/v1/apps/coins"
    /// So short that a lease is over within a test.
    private static let times = DaemonStage.AppleTimes(connect: 2, attempt: 2, deadline: 2)

    /// Three copies that serve, in front of an App Store whose answers about consumption wait at a gate.
    private static func with(
        _ body: @escaping @Sendable (_ stages: [DaemonStage], _ processes: [DaemonProcess], Gate) async throws -> Void
    ) async throws {
        var settings = DaemonStage.Settings()
        settings.database = try await PostgresServer.running().makeNamedDatabase()
        let gate = Gate()
        try await DaemonStage.with(settings, appleTimes: times, delays: gate) { stage in
            stage.simulator.state.inject(
                Fault(.latency(milliseconds: 1), operation: .sendConsumptionInformation, probability: 1))
            let stages = [stage, try stage.onAnotherHost(named: "b"), try stage.onAnotherHost(named: "c")]
            var processes: [DaemonProcess] = []
            for stage in stages { processes.append(try await stage.start()) }
            try await body(stages, processes, gate)
            gate.open()
            for process in processes where process.process.status == nil { #expect(try await process.terminate() == 0) }
        }
    }

    /// Buys something, has one copy know whose it is, and another one accept an answer about it.
    private static func send(_ stages: [DaemonStage], of user: String) async throws -> String {
        let id = try stages[0].sellGems()
        let link = await stages[1].api().send("PUT", "\(app)/users/\(user)/links/transactionId/\(id)")
        #expect(link?.status == 200 || link?.status == 201)
        let reply = await stages[0].api().send(
            "POST", "\(app)/users/\(user)/consumption", ["Prefer": "respond-async"],
            body: [
                "transactionId": .string(id), "customerConsented": true, "deliveryStatus": "DELIVERED",
                "sampleContentProvided": false,
            ])
        #expect(reply?.status == 202, "\(String(decoding: reply?.body ?? [], as: UTF8.self))")
        return try #require(reply?.json?["id"]?.string)
    }

    private static func withdraw(_ user: String, at stage: DaemonStage) async throws -> JSONValue {
        let reply = await stage.api("support").send(
            "PUT", "\(app)/users/\(user)/consent", body: ["consented": false, "source": "settings"])
        #expect(reply?.status == 200)
        return try #require(reply?.json)
    }

    private static func delivery(_ id: String, at stage: DaemonStage) async throws -> JSONValue {
        try #require(await stage.api().send("GET", "\(app)/deliveries/\(id)")?.json)
    }

    @Test func `accepted by one, sent by whichever, withdrawn at a third: nothing goes on when that is answered`()
        async throws
    {
        try await Self.with { stages, _, gate in
            gate.close()
            let id = try await Self.send(stages, of: "alice")
            try await Wait.until("the answer to arrive") { gate.arrivals > 0 }
            let withdrawn = try await Self.withdraw("alice", at: stages[2])
            #expect(withdrawn["mayHaveBeenSent"]?.array?.compactMap(\.string) == [id])
            let delivery = try await Self.delivery(id, at: stages[1])
            #expect(delivery["state"] == "cancelled" && delivery["mayHaveReachedApple"] == true)
            gate.open()
            let second = try await Self.send(stages, of: "bob")
            try await Wait.until("the next one to be accepted") {
                try await Self.delivery(second, at: stages[2])["state"] == "accepted"
            }
            // Nobody has tried again what was withdrawn: whatever arrived, however late it was seen, is an attempt that is told.
            let attempts = delivery["attempts"]?.array?.count ?? 0
            let others = try await Self.delivery(second, at: stages[2])["attempts"]?.array?.count ?? 0
            #expect(gate.arrivals <= attempts + others)
            #expect(try await Self.delivery(id, at: stages[0])["attempts"] == delivery["attempts"])
        }
    }

    @Test func `what a copy was sending that is killed or stopped ends with its lease, at whichever other one asks`()
        async throws
    {
        try await Self.with { stages, processes, gate in
            gate.close()
            let killed = try await Self.send(stages, of: "alice")
            try await Wait.until("the answer to arrive") { gate.arrivals > 0 }
            // Those of them that sent it, and others that might.
            for process in processes[..<2] { kill(process.processID, SIGSTOP) }
            let withdrawn = try await Self.withdraw("alice", at: stages[2])
            #expect(withdrawn["mayHaveBeenSent"]?.array?.compactMap(\.string) == [killed])
            let told = try await Self.delivery(killed, at: stages[2])["attempts"]?.array?.count ?? 0
            gate.open()
            try await processes[0].kill()
            kill(processes[1].processID, SIGCONT)
            let delivery = try await Self.delivery(killed, at: stages[1])
            #expect(delivery["state"] == "cancelled" && delivery["mayHaveReachedApple"] == true)
            // An attempt that nobody has told of would be one that began after the answer.
            #expect(gate.arrivals <= told && delivery["attempts"]?.array?.count == told)
            let ready = await stages[1].health.send("GET", "/readyz")
            #expect(ready?.status == 200)
        }
    }
}
