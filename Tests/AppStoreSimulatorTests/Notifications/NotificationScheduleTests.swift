import AppStoreAPI
import Foundation
import JSON
import Testing

@testable import AppStoreSimulator

/// Apple's retries, on simulated time.
struct NotificationScheduleTests {
    private static let hour: Int64 = 3_600_000

    private func draft(in environment: SimulatedEnvironment = .production) -> NotificationDraft {
        NotificationDraft(.refund, of: SimulatorFixture.bundleID, in: environment, about: .data(NotifiedPurchase()))
    }

    @Test func `production tries six times, ever more seldom, with the same payload`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500)) { receiver in
                try fixture.notify(receiver, in: .production)
                try fixture.state.notify(draft())
                for (index, hours) in [1, 12, 24, 48, 72].enumerated() {
                    try await fixture.waitForAttempts(index + 1)
                    let notification = try #require(fixture.state.notifications.first)
                    let due = fixture.clock.milliseconds + Int64(hours) * Self.hour
                    #expect(notification.nextAttemptDate == due)
                    fixture.clock.advance(by: Double(hours) * 3600)
                    fixture.state.agendaChanged()
                }
                try await fixture.waitForAttempts(6)
                let notification = try #require(fixture.state.notifications.first)
                #expect(notification.nextAttemptDate == nil && notification.attempts.count == 6)
                #expect(Set(receiver.requests.map(\.body)).count == 1 && receiver.requests.count == 6)
            }
        }
    }

    @Test func `a confirmation ends the retries`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500), .status(200)) { receiver in
                try fixture.notify(receiver, in: .production)
                try fixture.state.notify(draft())
                try await fixture.waitForAttempts(1)
                fixture.clock.advance(by: 3600)
                fixture.state.agendaChanged()
                try await fixture.waitForAttempts(2)
                let notification = try #require(fixture.state.notifications.first)
                #expect(notification.attempts.map(\.result) == [.unsuccessfulHTTPResponseCode, .success])
                #expect(notification.nextAttemptDate == nil && notification.isDelivered)
            }
        }
    }

    @Test func `putting the clock forward brings the retries`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500), .status(200)) { receiver in
                try fixture.notify(receiver, in: .production)
                try fixture.state.notify(draft())
                try await fixture.waitForAttempts(1)
                let clock = try await fixture.control("PUT", "/clock", ["advanceSeconds": 3600])
                #expect(clock.status == 200)
                try await fixture.waitForAttempts(2)
                let dates = try #require(fixture.state.notifications.first).attempts.map(\.date)
                #expect(dates[1] - dates[0] == Self.hour)
            }
        }
    }

    @Test func `nothing is sent before its time`() throws {
        var outbox = try outbox(posting: 1)
        _ = outbox.takeDue(now: 0)
        outbox.record(.timedOut, of: 1, at: 0)
        #expect(outbox.nextAttemptDate == Self.hour)
        #expect(outbox.takeDue(now: Self.hour - 1).isEmpty)
        #expect(outbox.takeDue(now: Self.hour).map(\.notification.number) == [1])
        #expect(outbox.takeDue(now: Self.hour).isEmpty)
    }

    @Test func `only so many attempts are under way together`() throws {
        var outbox = try outbox(posting: NotificationOutbox.largestFlight + 5)
        #expect(outbox.takeDue(now: 0).count == NotificationOutbox.largestFlight)
        #expect(outbox.takeDue(now: 0).isEmpty)
        outbox.record(.success, of: 1, at: 0)
        outbox.record(.success, of: 2, at: 0)
        #expect(outbox.takeDue(now: 0).count == 2)
    }

    @Test func `retries end with the address`() throws {
        var outbox = try outbox(posting: 1)
        outbox.setAddress(nil, of: SimulatorFixture.bundleID, in: .production)
        #expect(outbox.takeDue(now: 0).isEmpty && outbox.nextAttemptDate == nil)
    }

    @Test func `the oldest notifications are dropped`() throws {
        let count = NotificationOutbox.capacity + NotificationOutbox.capacity / 10
        var outbox = try outbox(posting: count)
        #expect(outbox.notifications.count == NotificationOutbox.capacity)
        #expect(outbox[1] == nil && outbox[count]?.number == count)
        #expect(outbox.takeDue(now: 0).first?.notification.number == count - NotificationOutbox.capacity + 1)
    }

    @Test func `identifiers are UUIDs and come out the same for the same seed`() {
        var (first, second) = (NotificationOutbox(seed: 1), NotificationOutbox(seed: 1))
        var third = NotificationOutbox(seed: 2)
        let uuid = first.uuid()
        #expect(UUID(uuidString: uuid)?.uuidString.lowercased() == uuid)
        #expect(second.uuid() == uuid && third.uuid() != uuid && first.uuid() != uuid)
    }

    private func outbox(posting count: Int) throws -> NotificationOutbox {
        var outbox = NotificationOutbox(seed: 1)
        let url = try #require(NotificationURL("https://example.com/"))
        outbox.setAddress(NotificationAddress(url: url), of: SimulatorFixture.bundleID, in: .production)
        let app = RegisteredApp(bundleID: SimulatorFixture.bundleID, appAppleID: 1, issuerID: "team")
        for _ in 0..<count { outbox.post(draft(), from: app, now: 0) }
        return outbox
    }
}
