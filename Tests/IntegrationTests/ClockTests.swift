import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Clocks that lie, before a real daemon: nothing ends too early, nothing is sent too late, and sending goes on.
@Suite(.enabled(if: PreloadedLibrary.compiler != nil, "no C compiler here")) struct ClockTests {
    private static let wrongClocks: [(name: String, set: @Sendable (ClockShim) throws -> Void)] = [
        ("13 hours ahead", { try $0.setWall(ahead: 46_800) }), ("an hour behind", { try $0.setWall(ahead: -3600) }),
        ("stopped", { try $0.stopWall() }),
    ]

    @Test(arguments: wrongClocks.indices)
    func `a clock that goes wrong while it runs changes nothing`(index: Int) async throws {
        try await DaemonStage.with { stage in
            let shim = try await ClockShim(in: stage.folder)
            let process = try await stage.start(environment: shim.environment)
            let story = try Story(stage)
            let (delivery, refundCase) = try await story.acceptsWhileAppleFails()
            try Self.wrongClocks[index].set(shim)
            // Two more attempts than were under way when the clock went wrong.
            try await story.isReceived(times: story.received.count + 3)
            try await story.isUnharmed(delivery, refundCase)
            stage.simulator.state.removeAllFaults()
            try await story.isAccepted(delivery)
            if index < 2 { #expect(process.log.text.contains("has jumped"), "the shim works") }
            try shim.setWall(ahead: 0)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test(arguments: [46_800, -3600] as [Int64])
    func `a clock that is wrong at the start changes nothing`(lead: Int64) async throws {
        try await DaemonStage.with(appleTimes: .short) { stage in
            let shim = try await ClockShim(in: stage.folder)
            let first = try await stage.start(environment: shim.environment)
            let story = try Story(stage)
            let (delivery, refundCase) = try await story.acceptsWhileAppleFails()
            try await first.kill()
            let state = stage.simulator.state
            let outage = state.inject(Fault(.connectionReset(afterProcessing: false)))
            try shim.setWall(ahead: lead)
            let count = story.received.count
            let second = try await stage.start(environment: shim.environment)
            // Nobody knows the time, so nothing happens: it asks, and asks again.
            try await story.isAsked(times: 4)
            #expect(story.received.count == count, "nothing is sent")
            try await story.isUnharmed(delivery, refundCase, secondsLeft: nil)
            // What comes in meanwhile is dated by the wrong clock, and has its 12 hours all the same.
            let (late, alone) = (try Story(stage), try Story(stage))
            let asked = try await late.isAsked()
            let answer = try await late.send("respond-async")
            let unasked = try await alone.send("respond-async")
            #expect(answer.status == 202 && unasked.status == 202)
            state.removeFault(outage)
            try await late.isReceived(times: 1)
            try await alone.isReceived(times: 1)
            try await late.isUnharmed(try #require(answer.json?["id"]?.string), asked)
            try await alone.isFresh(try #require(unasked.json?["id"]?.string))
            state.removeAllFaults()
            try await story.isAccepted(delivery)
            try await alone.isAccepted(try #require(unasked.json?["id"]?.string))
            #expect(second.log.text.contains("The machine's clock is wrong"))
            #expect(try await second.terminate() == 0)
        }
    }

    @Test func `a machine that slept through the deadline sends nothing any more`() async throws {
        let time = MovableTime()
        try await DaemonStage.with(now: time.now) { stage in
            let shim = try await ClockShim(in: stage.folder)
            let process = try await stage.start(environment: shim.environment)
            let story = try Story(stage)
            let (delivery, refundCase) = try await story.acceptsWhileAppleFails()
            time.advance(by: 46_800)
            try shim.suspend(46_800)
            try await story.isState("expired", "deliveries", delivery)
            let count = story.received.count
            try await story.isState("expired", "cases", refundCase)
            stage.simulator.state.removeAllFaults()
            // What comes later goes its way.
            let next = try Story(stage)
            #expect(try await next.send("wait=\(Wait.seconds)").status == 200)
            #expect(story.received.count == count && !process.log.text.contains("has jumped"))
            #expect(try await process.terminate() == 0)
        }
    }

    /// A purchase that Apple asks about, and its answer.
    private struct Story {
        private static let consumption: JSONValue = [
            "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
        ]

        let stage: DaemonStage
        let gems: String

        init(_ stage: DaemonStage) throws {
            self.stage = stage
            gems = try stage.sellGems(in: .sandbox, token: UUID().uuidString.lowercased())
        }

        /// Apple asks; the id of the case.
        func isAsked() async throws -> String {
            try stage.simulator.state.requestRefund(of: gems, reason: .other)
            return try await Wait.value("a case") {
                let page = await stage.api().send("GET", "/v1/apps/coins/cases?transactionId=\(gems)")
                return page?.json?["cases"]?[0]?["id"]?.string
            }
        }

        /// Apple asks, and then takes no answer; the ids of the delivery and of the case.
        func acceptsWhileAppleFails() async throws -> (delivery: String, refundCase: String) {
            let refundCase = try await isAsked()
            stage.simulator.state.inject(
                Fault(.status(500, errorCode: 5_000_001), operation: .sendConsumptionInformation))
            let reply = try await send("respond-async")
            #expect(reply.status == 202)
            try await isReceived(times: 1)
            return (try #require(reply.json?["id"]?.string), refundCase)
        }

        func send(_ preference: String) async throws -> LocalClient.Reply {
            try #require(
                await stage.api().send(
                    "POST", "/v1/apps/coins/transactions/\(gems)/consumption", ["Prefer": preference],
                    body: Self.consumption))
        }

        var received: [ReceivedRequest] {
            stage.simulator.state.received.requests.filter {
                $0.operation == .sendConsumptionInformation && $0.identifier == gems
            }
        }

        func isReceived(times: Int) async throws {
            try await Wait.bounding("\(times) requests") {
                await stage.simulator.state.wait(for: .requestReceived) { _ in received.count >= times }
            }
        }

        /// Waits for so many requests more, whatever about.
        func isAsked(times: Int) async throws {
            let count = stage.simulator.state.received.requests.count + times
            try await Wait.bounding("\(times) more requests") {
                await stage.simulator.state.wait(for: .requestReceived) { $0.received.requests.count >= count }
            }
        }

        /// The delivery goes on, and the case is open with nearly all of its time.
        func isUnharmed(
            _ delivery: String, _ refundCase: String, secondsLeft: ClosedRange<Int64>? = 42_000...43_200
        ) async throws {
            let state = try await get("deliveries", delivery)["state"]?.string
            #expect(state == "queued" || state == "sending")
            let found = try await get("cases", refundCase)
            #expect(found["state"] == "open")
            if let secondsLeft {
                // A clock that stands still is doubted again and again, until Apple's next answer.
                let left = try await Wait.value("the time left to be told") {
                    try await get("cases", refundCase)["secondsLeft"]?.int64
                }
                #expect(secondsLeft.contains(left))
            } else {
                #expect(found["secondsLeft"] == .null)
            }
        }

        /// The delivery was created just now, and has 12 hours from then.
        func isFresh(_ delivery: String) async throws {
            let found = try await get("deliveries", delivery)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let created = try style.parse(try #require(found["createdAt"]?.string))
            let deadline = try style.parse(try #require(found["deadline"]?.string))
            #expect(abs(created.timeIntervalSinceNow) < 1000 && deadline.timeIntervalSince(created) == 43_200)
        }

        func isAccepted(_ delivery: String) async throws { try await isState("accepted", "deliveries", delivery) }

        func isState(_ state: String, _ kind: String, _ id: String) async throws {
            try await Wait.until("\(kind) \(id) to be \(state)") {
                let found = try await get(kind, id)["state"]?.string
                #expect(found == state || ["queued", "sending", "open", "answered"].contains(found))
                return found == state
            }
        }

        private func get(_ kind: String, _ id: String) async throws -> JSONValue {
            try #require(await stage.api().send("GET", "/v1/apps/coins/\(kind)/\(id)")?.json)
        }
    }
}
