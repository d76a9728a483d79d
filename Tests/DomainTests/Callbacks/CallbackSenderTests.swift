import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What is sent to whom, in which order, and what becomes of it.
struct CallbackSenderTests {
    @Test func `each callback is told what its filter admits, from its making on, in its format`() async throws {
        try await CallbackFixture.with { fixture in
            try await fixture.notify("early", about: "9")
            _ = try await fixture.add("all.test")
            _ = try await fixture.add("apple.test", .apple)
            _ = try await fixture.add("refunds.test", .apple, types: ["REFUND"])
            _ = try await fixture.add("cases.test", types: ["purser.case.opened"], products: ["gems"])
            _ = try await fixture.add("others.test", products: ["swords"])
            _ = try await fixture.add("sandbox.test", environments: ["Sandbox"])
            _ = try await fixture.add("gems.test", .apple, of: CallbackFixture.other)
            try await fixture.notify("n1")
            try await fixture.notify("n2", "REFUND", at: 1)
            try await fixture.notify("n3", "TEST", about: "5", environment: .sandbox)
            try await fixture.notify("g1", "TEST", app: CallbackFixture.other)
            #expect(try await fixture.bodies(of: "apple.test", count: 3).sorted() == ["n.n1.n", "n.n2.n", "n.n3.n"])
            #expect(try await fixture.bodies(of: "refunds.test", count: 1) == ["n.n2.n"])
            #expect(try await fixture.bodies(of: "cases.test", count: 1) == ["case.opened 1"])
            #expect(try await fixture.bodies(of: "sandbox.test", count: 1) == ["notification.received 5"])
            #expect(try await fixture.bodies(of: "gems.test", count: 1) == ["n.g1.n"])
            let all = try await fixture.bodies(of: "all.test", count: 5)
            #expect(
                all.filter { $0.hasSuffix(" 1") } == [
                    "notification.received 1", "case.opened 1", "notification.received 1", "case.decided 1",
                ])
            #expect(fixture.transport.bodies(of: "others.test").isEmpty)
            let message = try #require(fixture.transport.messages.first { $0.url.host == "all.test" })
            #expect(message.contentType == "application/cloudevents+json; charset=utf-8")
            #expect(message.headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
            #expect(message.headers[2].value.hasSuffix("/1"))
            let apple = try #require(fixture.transport.messages.first { $0.url.host == "apple.test" })
            #expect(apple.headers.isEmpty && apple.contentType == "application/json")
        }
    }

    @Test func `behind an event that fails waits what is of its transaction, and nothing else`() async throws {
        try await CallbackFixture.with { fixture in
            fixture.transport.answer { message in
                String(decoding: message.body, as: UTF8.self) == "n.a1.n" ? .status(500) : .status(204)
            }
            let callback = try await fixture.add("shop.test", .apple)
            try await fixture.notify("a1", about: "1")
            try await fixture.notify("a2", "REFUND", about: "1", at: 1)
            try await fixture.notify("b1", about: "2")
            try await fixture.notify("b2", "REFUND", about: "2", at: 1)
            let failing = try await fixture.listing(callback) { $0.waiting == 2 && $0.failingSince != nil }
            #expect(failing.callback.state == .active)
            let posted = try await fixture.bodies(of: "shop.test", count: 3)
            #expect(posted.filter { $0.hasPrefix("n.b") } == ["n.b1.n", "n.b2.n"])
            #expect(!posted.contains("n.a2.n"))
            #expect(fixture.log.lines("receiver fails").count == 1)
            fixture.transport.answer { _ in .status(200) }
            fixture.advance(by: .seconds(10))
            try await fixture.listing(callback) { $0.waiting == 0 }
            #expect(Array(fixture.transport.bodies(of: "shop.test").suffix(2)) == ["n.a1.n", "n.a2.n"])
            try await Wait.until("the log to tell the end") { fixture.log.lines("takes everything again").count == 1 }
            let attempts = try await fixture.service.attempts(app: CallbackFixture.app, id: callback.id, limit: 10)
            #expect(attempts.count == 5 && attempts.filter { $0.failure != nil }.map(\.status) == [500])
        }
    }

    @Test func `a receiver that does not answer delays no other`() async throws {
        try await CallbackFixture.with { fixture in
            fixture.transport.gate.close()
            _ = try await fixture.add("slow.test", .apple)
            try await fixture.notify("n1")
            await fixture.transport.gate.hasArrivals(1)
            _ = try await fixture.add("quick.test", .apple)
            for number in 0..<8 { try await fixture.notify("q\(number)", about: "\(number)0") }
            // How many are sent together is a matter of which are there when its round begins.
            try await fixture.bodies(of: "quick.test", count: 1)
            #expect(fixture.transport.bodies(of: "slow.test") == ["n.n1.n"], "its round is not over")
            fixture.transport.gate.open()
            try await fixture.bodies(of: "slow.test", count: 9)
        }
    }

    @Test func `after three days of failures it is paused, and set to active it goes on where it was`() async throws {
        try await CallbackFixture.with { fixture in
            fixture.transport.answer { _ in .none("no route") }
            let callback = try await fixture.add("down.test", .apple)
            try await fixture.notify("n1")
            try await fixture.listing(callback) { $0.waiting == 1 }
            var days = 0
            while try await fixture.service.get(app: CallbackFixture.app, id: callback.id).callback.state == .active {
                let posted = fixture.transport.bodies(of: "down.test").count
                fixture.advance(by: .seconds(86_400))
                days += 1
                try await fixture.bodies(of: "down.test", count: posted + 1)
                // Its outcome is kept a moment later.
                try await Wait.until("the attempt to be kept") {
                    try await fixture.service.attempts(app: CallbackFixture.app, id: callback.id, limit: 200).count
                        > posted
                }
            }
            #expect(days == 3)
            let paused = try await fixture.listing(callback) { $0.callback.state == .paused }
            #expect(paused.callback.pauseReason == .failing && paused.waiting == 1)
            try await Wait.until("an alarm") { fixture.log.lines("A callback is paused").count == 1 }
            #expect(fixture.log.lines("A callback is paused").first?.metadata["host"] == "down.test")
            fixture.transport.answer { _ in .status(200) }
            try await fixture.notify("n2", about: "2")
            var change = FieldReader(body: ["state": .string("active")])
            _ = try await fixture.service.change(
                app: CallbackFixture.app, id: callback.id,
                change.callbackChange(fixture.service.policy, of: .apple), by: .daemon)
            try await Wait.until("both to arrive") {
                Set(fixture.transport.bodies(of: "down.test").suffix(2)) == ["n.n1.n", "n.n2.n"]
            }
            try await fixture.listing(callback) { $0.waiting == 0 && $0.callback.state == .active }
        }
    }

    @Test func `a receiver that is gone is paused at once, a redirect is a failure`() async throws {
        try await CallbackFixture.with { fixture in
            fixture.transport.answer { $0.url.host == "gone.test" ? .status(410) : .status(302) }
            let gone = try await fixture.add("gone.test", .apple)
            let moved = try await fixture.add("moved.test", .apple)
            try await fixture.notify("n1")
            let paused = try await fixture.listing(gone) { $0.callback.state == .paused }
            #expect(paused.callback.pauseReason == .gone)
            try await fixture.listing(moved) { $0.waiting == 1 && $0.callback.state == .active }
            let attempts = try await fixture.service.attempts(app: CallbackFixture.app, id: moved.id, limit: 1)
            #expect(attempts.first?.failure == "the receiver answered 302, and redirects are not followed")
        }
    }

    @Test func `a receiver that asks to be left alone is, whatever the event, until its owner changes something`()
        async throws
    {
        try await CallbackFixture.with { fixture in
            fixture.transport.answer { _ in .status(503, retryAfter: .seconds(600)) }
            let callback = try await fixture.add("busy.test", .apple)
            try await fixture.notify("a1", about: "1")
            try await fixture.listing(callback) { $0.waiting == 1 }
            let attempts = try await fixture.service.attempts(app: CallbackFixture.app, id: callback.id, limit: 1)
            #expect(attempts.first?.failure == "the receiver answered 503, and asks to be left alone for 600 s")
            let quick = try await fixture.add("quick.test", .apple)
            try await fixture.notify("b1", about: "2")
            fixture.advance(by: .seconds(599))
            try await fixture.bodies(of: "quick.test", count: 1)
            #expect(fixture.transport.bodies(of: "busy.test") == ["n.a1.n"], "five seconds would be our own pause")
            try await fixture.service.remove(app: CallbackFixture.app, id: quick.id, by: .daemon)
            fixture.transport.answer { _ in .status(200) }
            fixture.advance(by: .seconds(2))
            try await fixture.bodies(of: "busy.test", count: 3)
            fixture.transport.answer { _ in .status(429, retryAfter: .seconds(3600)) }
            try await fixture.notify("c1", about: "3")
            try await fixture.listing(callback) { $0.waiting == 1 }
            fixture.transport.answer { _ in .status(200) }
            var change = FieldReader(body: ["description": .string("mended")])
            _ = try await fixture.service.change(
                app: CallbackFixture.app, id: callback.id,
                change.callbackChange(fixture.service.policy, of: .apple), by: .daemon)
            try await fixture.notify("d1", about: "4")
            try await Wait.until("another transaction's event") {
                fixture.transport.bodies(of: "busy.test").contains("n.d1.n")
            }
        }
    }

    @Test func `a wish to be left alone ends within the longest, and within the days that an event is tried`() {
        let retries = CallbackRetries(random: { 1 })
        let now = CallbackFixture.start
        func pause(_ asked: Duration?, after attempts: Int = 1, failingFor: TimeInterval = 0) -> TimeInterval {
            retries.nextAttempt(after: attempts, since: now - failingFor, asked: asked, at: now).timeIntervalSince(now)
        }
        #expect(pause(nil) == 5 && pause(.zero) == 5 && pause(.seconds(2)) == 5)
        #expect(pause(.seconds(6)) == 6 && pause(.seconds(6), after: 20) == 900)
        #expect(pause(.seconds(86_400)) == 3600)
        let days: TimeInterval = 3 * 86_400
        #expect(pause(.seconds(3600), failingFor: days - 60) == 60)
        #expect(retries.longestPause == .seconds(3600))
    }

    @Test func `what was under way when the process ended is sent again, and what was received is not`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-callbacks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CallbackFixture.run(in: folder) { fixture in
            let callback = try await fixture.add("shop.test", .apple)
            try await fixture.notify("n1")
            try await fixture.bodies(of: "shop.test", count: 1)
            try await Wait.until("the first to be kept") {
                try await fixture.service.attempts(app: CallbackFixture.app, id: callback.id, limit: 9).count == 1
            }
            fixture.transport.gate.close()
            try await fixture.notify("n2", "REFUND", at: 1)
            await fixture.transport.gate.hasArrivals(2)
        }
        try await CallbackFixture.run(in: folder) { fixture in
            try await fixture.notify("n3", "TEST", about: "3", at: 2)
            let bodies = try await fixture.bodies(of: "shop.test", count: 2)
            #expect(bodies.sorted() == ["n.n2.n", "n.n3.n"])
        }
    }

    @Test func `a replay sends again what happened behind a cursor`() async throws {
        try await CallbackFixture.with { fixture in
            let callback = try await fixture.add("shop.test", .apple)
            for number in 1...3 { try await fixture.notify("n\(number)", "TEST", about: "\(number)") }
            try await fixture.bodies(of: "shop.test", count: 3)
            try await Wait.until("all to be kept") {
                try await fixture.service.attempts(app: CallbackFixture.app, id: callback.id, limit: 9).count == 3
            }
            let all = try await fixture.store.events(after: 0, limit: 100)
            let epoch = try await fixture.store.eventBounds().epoch
            _ = try await fixture.service.replay(
                app: CallbackFixture.app, id: callback.id,
                from: .cursor(EventCursor(epoch: epoch, position: all[0].position)), by: .daemon)
            let bodies = try await fixture.bodies(of: "shop.test", count: 5)
            #expect(bodies.suffix(2).sorted() == ["n.n2.n", "n.n3.n"])
        }
    }

    @Test func `what was an erased user's is not sent any more`() async throws {
        try await CallbackFixture.with { fixture in
            let link = try Link.sample(.transactionId, "1", user: "alice")
            _ = try await fixture.store.declare(link, transfer: false)
            fixture.transport.answer { _ in .status(500) }
            let callback = try await fixture.add("shop.test", .apple)
            try await fixture.notify("n1")
            try await fixture.listing(callback) { $0.waiting == 1 && $0.failingSince != nil }
            _ = try await fixture.store.eraseUser(app: "coins", user: UserID("alice"), at: CallbackFixture.start)
            fixture.advance(by: .seconds(10))
            try await fixture.listing(callback) { $0.waiting == 0 }
            #expect(fixture.transport.bodies(of: "shop.test") == ["n.n1.n"])
        }
    }

    @Test func `a removed or paused callback is sent nothing`() async throws {
        try await CallbackFixture.with { fixture in
            let removed = try await fixture.add("removed.test", .apple)
            let paused = try await fixture.add("paused.test", .apple)
            _ = try await fixture.add("kept.test", .apple)
            try await fixture.service.remove(app: CallbackFixture.app, id: removed.id, by: .daemon)
            var change = FieldReader(body: ["state": .string("paused")])
            _ = try await fixture.service.change(
                app: CallbackFixture.app, id: paused.id, change.callbackChange(fixture.service.policy, of: .apple),
                by: .daemon)
            try await fixture.notify("n1")
            try await fixture.bodies(of: "kept.test", count: 1)
            try await fixture.notify("n2", about: "2")
            try await fixture.bodies(of: "kept.test", count: 2)
            #expect(fixture.transport.bodies(of: "removed.test").isEmpty)
            #expect(fixture.transport.bodies(of: "paused.test").isEmpty)
        }
    }

    @Test func `after a rotation both secrets sign for a day, then the new one alone`() async throws {
        try await CallbackFixture.with { fixture in
            let callback = try await fixture.add("shop.test")
            let (_, secret) = try await fixture.service.rotateSecret(
                app: CallbackFixture.app, id: callback.id, by: .daemon)
            #expect(secret == "whsec_\(callback.id)/2")
            func signature(_ uuid: String) async throws -> String? {
                try await fixture.notify(uuid, "TEST", about: uuid)
                try await fixture.bodies(of: "shop.test", count: 1)
                let message = try await Wait.value("the message of \(uuid)") {
                    fixture.transport.messages.first { $0.body == Array("notification.received \(uuid)".utf8) }
                }
                return message.headers.last?.value
            }
            #expect(try await signature("1") == "v1,\(callback.id)/2 v1,\(callback.id)/1")
            fixture.advance(by: .seconds(86_401))
            #expect(try await signature("2") == "v1,\(callback.id)/2")
        }
    }

    @Test func `an event that the log keeps no more is not waited for, and the gap is told`() async throws {
        try await CallbackFixture.with { fixture in
            let callback = try await fixture.add("shop.test", .apple)
            var change = FieldReader(body: ["state": .string("paused")])
            _ = try await fixture.service.change(
                app: CallbackFixture.app, id: callback.id, change.callbackChange(fixture.service.policy, of: .apple),
                by: .daemon)
            try await fixture.notify("n1")
            _ = try await fixture.store.enforceRetention(RetentionPolicy(), at: CaseModel.time(31 * 24), limit: 100)
            try await fixture.notify("n2", about: "2", at: 31 * 24)
            var resume = FieldReader(body: ["state": .string("active")])
            _ = try await fixture.service.change(
                app: CallbackFixture.app, id: callback.id, resume.callbackChange(fixture.service.policy, of: .apple),
                by: .daemon)
            #expect(try await fixture.bodies(of: "shop.test", count: 1) == ["n.n2.n"])
            try await fixture.listing(callback) { $0.callback.hasMissedEvents }
        }
    }

    @Test func `nothing goes out when the lease is over, and what does go out bears its end`() async throws {
        // For so long that it is not over when a busy machine comes to begin.
        let lease = DutyLease(end: ContinuousClock.now + .seconds(3600))
        try await CallbackFixture.with(under: lease) { fixture in
            let first = try #require(lease.end)
            _ = try await fixture.add("shop.test", .apple)
            try await fixture.notify("n1")
            try await fixture.bodies(of: "shop.test", count: 1)
            fixture.advance(by: .seconds(3601))
            // Else it would look again in an hour.
            try await Wait.until("the sender to see that its lease is over") {
                fixture.clock.sleeperCount(within: .seconds(5)) > 0
            }
            try await fixture.notify("n2", about: "2")
            let second = first + .seconds(7200)
            lease.end = second
            fixture.advance(by: .seconds(10))
            #expect(try await fixture.bodies(of: "shop.test", count: 2) == ["n.n1.n", "n.n2.n"])
            #expect(fixture.transport.messages.map(\.latestStart) == [first, second])
        }
    }
}
