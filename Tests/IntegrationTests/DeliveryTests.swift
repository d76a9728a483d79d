import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// What was accepted reaches Apple, whatever comes in between.
struct DeliveryTests {
    private static let down = Fault(.status(503), operation: .sendConsumptionInformation)

    @Test func `what Apple cannot take now is on its way, and arrives`() async throws {
        try await DaemonFixture.with { fixture in
            let gems = try await fixture.customer().transaction
            let state = fixture.simulator.state
            state.inject(Self.down)
            let target = "\(DaemonFixture.app)/transactions/\(gems)/consumption"
            let headers = ["Prefer": "respond-async", "Idempotency-Key": "one"]
            let reply = try await fixture.send("POST", target, headers, body: DaemonFixture.consumption())
            #expect(reply.status == 202)
            let id = try #require(try reply.json["id"]?.string)
            #expect(reply.headers["location"] == "\(DaemonFixture.app)/deliveries/\(id)")
            try await fixture.isReceived(gems, times: 2)
            state.removeAllFaults()
            try await fixture.event("delivery.accepted", about: gems)
            let delivery = try await fixture.delivery(.string(id))
            #expect(delivery["state"] == "accepted" && delivery["attempts"]?[0]?["httpStatus"] == 503)
            #expect(Set(fixture.received(gems).map(\.consumption)).count == 1, "the same bytes each time")
            let again = try await fixture.send("POST", target, headers, body: DaemonFixture.consumption())
            #expect(try again.status == 200 && again.json["id"] == .string(id))
            let other = try await fixture.send(
                "POST", target, headers, body: DaemonFixture.consumption(("consumptionPercentage", 1)))
            #expect(try other.status == 422 && other.json["reason"] == "IDEMPOTENCY_KEY_REUSED")
        }
    }

    @Test func `a deadline ends it, and says so`() async throws {
        let time = MovableTime()
        try await DaemonFixture.with(.init(now: time.now)) { fixture in
            let gems = try await fixture.customer().transaction
            fixture.simulator.state.inject(Self.down)
            let deadline = DaemonFixture.time(inSeconds: TimeInterval(Wait.seconds))
            async let answer = fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                body: DaemonFixture.consumption(("deadline", deadline)))
            try await fixture.isReceived(gems)
            time.advance(by: TimeInterval(Wait.seconds))
            let reply = try await answer
            #expect(try reply.json["reason"] == "DEADLINE_EXCEEDED", "\(String(decoding: reply.body, as: UTF8.self))")
            let delivery = try #require(try reply.json["delivery"])
            #expect(delivery["state"] == "expired")
        }
    }

    @Test func `a delivery that is cancelled is not sent`() async throws {
        try await DaemonFixture.with { fixture in
            let gems = try await fixture.customer().transaction
            let state = fixture.simulator.state
            state.inject(Self.down)
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                ["Prefer": "respond-async"],
                body: DaemonFixture.consumption())
            let id = try #require(try reply.json["id"]?.string)
            let cancelled = try await fixture.send("POST", "\(DaemonFixture.app)/deliveries/\(id):cancel")
            #expect(try cancelled.status == 200 && cancelled.json["state"] == "cancelled")
            await fixture.simulator.readSockets()
            let count = fixture.received(gems).count
            state.removeAllFaults()
            let again = try await fixture.send("POST", "\(DaemonFixture.app)/deliveries/\(id):cancel")
            #expect(try again.status == 409 && again.json["reason"] == "DELIVERY_ENDED")
            #expect(fixture.received(gems).count == count)
        }
    }

    @Test func `Apple's decision ends what is still queued`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let gems = try await fixture.customer().transaction
            let id = try #require(try await fixture.requestRefund(of: gems)["id"]?.string)
            fixture.simulator.state.inject(Self.down)
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/cases/\(id)/consumption", ["Prefer": "respond-async"],
                body: DaemonFixture.consumption())
            #expect(reply.status == 202)
            try fixture.simulator.state.decideRefund(of: gems, .refund(percentage: 100_000))
            try await fixture.event("delivery.cancelled", about: gems)
            #expect(try await fixture.delivery(try reply.json["id"])["state"] == "cancelled")
            let refundCase = try await fixture.refundCase(of: gems)
            #expect(refundCase["state"] == "decided" && refundCase["outcome"] == "refunded")
        }
    }

    @Test
    func `another answer to a case waits for the first to end, the same answer is the same delivery`()
        async throws
    {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let gems = try await fixture.customer().transaction
            let id = try #require(try await fixture.requestRefund(of: gems)["id"]?.string)
            let target = "\(DaemonFixture.app)/cases/\(id)/consumption"
            fixture.simulator.state.inject(Self.down)
            let headers = ["Prefer": "respond-async"]
            let first = try await fixture.send("POST", target, headers, body: DaemonFixture.consumption())
            let same = try await fixture.send("POST", target, headers, body: DaemonFixture.consumption())
            #expect(try same.status == 202 && same.json["id"] == first.json["id"])
            let other = try await fixture.send(
                "POST", target, headers, body: DaemonFixture.consumption(("consumptionPercentage", 7)))
            #expect(try other.status == 409 && other.json["reason"] == "DELIVERY_UNDER_WAY")
            #expect(try other.json["delivery"]?["id"] == first.json["id"])
        }
    }

    @Test
    func `a daemon that starts again goes on with what it had accepted, and finds what it missed`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let state = simulator.state
        do {
            let (ids, next) = AsyncStream.makeStream(of: (gems: String, missed: String).self)
            try await DaemonFixture.run(.init(notifications: .deadEnd), folder, simulator) { fixture in
                let gems = try await fixture.customer().transaction
                state.inject(Self.down)
                let reply = try await fixture.send(
                    "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                    ["Prefer": "respond-async"],
                    body: DaemonFixture.consumption())
                #expect(reply.status == 202)
                let missed = try await fixture.customer(in: .sandbox).transaction
                try state.requestRefund(of: missed, reason: .other)
                try await fixture.isAttempted(state.notifications.count)
                next.yield((gems, missed))
            }
            state.removeAllFaults()
            try await DaemonFixture.run(.init(searchesHistory: true), folder, simulator) { fixture in
                for await (gems, missed) in ids {
                    try await fixture.event("delivery.accepted", about: gems)
                    try await fixture.event("case.opened", about: missed)
                    let list = try await fixture.send(
                        "GET", "\(DaemonFixture.app)/notifications?transactionId=\(missed)&type=CONSUMPTION_REQUEST"
                    ).json
                    #expect(list["notifications"]?[0]?["source"] == "history")
                    break
                }
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }
}
