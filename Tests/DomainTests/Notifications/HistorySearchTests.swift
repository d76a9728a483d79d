import Domain
import Foundation
import Logging
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

struct HistorySearchTests {
    private static let hour: TimeInterval = 3600
    private static let app = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])

    /// A search at work, in one environment unless told otherwise; the test is over before the next round is due.
    private func searching(
        _ fixture: NotificationFixture, _ history: FakeHistory, app: App = app,
        _ work: (HistorySearch) async throws -> Void
    ) async throws {
        try await fixture.searching(history, app: app, work)
    }

    /// Returns as soon as a round is over.
    private func roundIsOver(_ fixture: NotificationFixture, in environments: Int = 1) async throws {
        try await fixture.base.sleepersHaveArrived(environments, within: .seconds(1800))
    }

    private func progress(
        _ fixture: NotificationFixture, _ environment: AppStoreEnvironment = .production
    ) async throws -> HistoryProgress? {
        try await fixture.store.historyProgress(app: "coins", environment: environment)
    }

    private func sent(
        _ count: Int, _ prefix: String, type: String = "DID_RENEW", at hour: Double = -2
    ) -> [StoredNotification] {
        (1...count).map { .sample("\(prefix)\($0)", type: type, at: hour, transaction: .sample(id: "\(prefix)\($0)")) }
    }

    @Test func `what is found while the time is in doubt counts from when Apple signed it`() async throws {
        let machine = MachineClock()
        try await NotificationFixture.with(machine: machine) { fixture in
            let history = FakeHistory()
            history.add(sent(1, "request", type: "CONSUMPTION_REQUEST", at: -2))
            history.whenAsked { machine.lead = 46_800 }
            fixture.base.hearApple()
            try await searching(fixture, history) { _ in
                let found = try await fixture.applied("request1")
                #expect(found.receivedAt == found.notification.signedAt)
            }
        }
    }

    // MARK: What is asked

    @Test func `the first search asks for what has a deadline, then failures, then three days; the next what is new`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(3, "request", type: "CONSUMPTION_REQUEST", at: -11), hasFailed: true)
            history.add(sent(25, "renewal", at: -60))
            let start = fixture.base.now
            try await searching(fixture, history) { _ in
                try await roundIsOver(fixture)
                let first = history.questions
                #expect(first.map(\.pass) == [.consumptionRequests, .failures, .all, .all])
                #expect(first.map(\.token) == [nil, nil, nil, "0:20"])
                #expect(first.map { start.timeIntervalSince($0.start) / Self.hour } == [13, 72, 72, 72])
                #expect(first.allSatisfy { $0.end == start && $0.environment == .production })
                let progress = try await progress(fixture)
                #expect(progress == HistoryProgress(completeUntil: start, search: nil))
                try await fixture.advance(by: .seconds(1800))
                try await roundIsOver(fixture)
                let second = history.questions.dropFirst(4)
                #expect(second.map(\.pass) == [.consumptionRequests, .failures, .all])
                #expect(second.allSatisfy { $0.start == start - Self.hour && $0.end == start + Self.hour / 2 })
            }
            let requested = try await fixture.applied("request3")
            #expect(requested.source == .history && requested.receivedAt == start)
            #expect(try await fixture.refundCase(of: "request1")?.state == .open)
            let found = fixture.log.lines("held what had not come in")
            #expect(found.map { $0.metadata["notifications"] } == ["3", "25"])
            #expect(fixture.log.lines("could not be read").isEmpty)
        }
    }

    @Test func `what came in by itself is not found again`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(2, "u"))
            try await fixture.take(sent(1, "u")[0])
            try await fixture.applied("u1")
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            #expect(try await fixture.applied("u1").source == .webhook)
            #expect(fixture.log.lines("held what").map { $0.metadata["notifications"] } == ["1"])
        }
    }

    @Test func `after an outage it searches without waiting for the next round`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            try await searching(fixture, history) { search in
                try await roundIsOver(fixture)
                history.add(sent(1, "late", at: -0.1))
                search.searchSoon()
                try await fixture.applied("late1")
            }
        }
    }

    @Test func `after long times it asks for no more than Apple keeps`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            let now = fixture.base.now
            for environment in AppStoreEnvironment.allCases {
                _ = try await fixture.store.saveHistoryProgress(
                    HistoryProgress(completeUntil: now - 400 * 24 * Self.hour, search: nil), replacing: nil,
                    app: "coins", environment: environment)
            }
            try await searching(fixture, history, app: NotificationFixture.app) { _ in
                try await roundIsOver(fixture, in: 2)
            }
            for (environment, days) in [(AppStoreEnvironment.production, 180.0), (.sandbox, 30)] {
                let asked = history.questions.filter { $0.environment == environment }
                #expect(asked.map(\.pass) == [.consumptionRequests, .failures, .all])
                #expect(
                    asked.map { now.timeIntervalSince($0.start) / Self.hour } == [13, 72, days * 24 - 1],
                    "\(environment)")
            }
        }
    }

    // MARK: Going on

    @Test func `a search goes on where it stopped, behind what has a deadline, and then up to now`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(50, "u"))
            let start = fixture.base.now
            history.failAlways(nil)
            try await searching(fixture, history) { _ in
                try await roundIsOver(fixture)
            }
            let complete = HistoryProgress.Search(
                pass: .all, start: start - 72 * Self.hour, end: start, paginationToken: "0:40")
            _ = try await fixture.store.saveHistoryProgress(
                HistoryProgress(completeUntil: nil, search: complete), replacing: nil, app: "coins",
                environment: .production)
            fixture.base.clock.advance(by: .seconds(7200))
            let before = history.questions.count
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            let asked = history.questions.dropFirst(before)
            #expect(asked.map(\.pass) == [.consumptionRequests, .all, .failures, .all])
            #expect(asked.map(\.token) == [nil, "0:40", nil, nil])
            #expect(asked.dropFirst().first?.end == start)
            #expect(asked.last?.start == start - Self.hour && asked.last?.end == fixture.base.now)
            #expect(try await progress(fixture) == HistoryProgress(completeUntil: fixture.base.now, search: nil))
        }
    }

    @Test func `how far it got is kept after each page, and is all that a failure costs`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(50, "u"))
            // The second page of everything fails for good, until Apple is asked anew.
            let error = ServiceError.apple(4_290_000, httpStatus: 400)
            _ = try await fixture.store.saveHistoryProgress(
                HistoryProgress(
                    completeUntil: nil,
                    search: .init(
                        pass: .all, start: fixture.base.now - 72 * Self.hour, end: fixture.base.now,
                        paginationToken: "0:20")), replacing: nil, app: "coins", environment: .production)
            history.fail(error, pass: .all)
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            #expect(try await progress(fixture)?.search?.paginationToken == "0:20")
            #expect(try await progress(fixture)?.completeUntil == nil)
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            #expect(try await progress(fixture)?.completeUntil == fixture.base.now)
            for number in 21...50 { #expect(try await fixture.applied("u\(number)").source == .history) }
        }
    }

    @Test func `an expired pagination token begins the pass anew`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(30, "u"))
            history.expireTokens()
            let now = fixture.base.now
            _ = try await fixture.store.saveHistoryProgress(
                HistoryProgress(
                    completeUntil: nil,
                    search: .init(pass: .all, start: now - Self.hour * 5, end: now, paginationToken: "0:20")),
                replacing: nil, app: "coins", environment: .production)
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            let asked = history.questions.filter { $0.start == now - Self.hour * 5 }
            #expect(asked.map(\.token) == ["0:20", nil, "1:20"])
            #expect(try await progress(fixture)?.completeUntil == now)
            #expect(fixture.log.lines("could not be read").isEmpty)
        }
    }

    // MARK: Waiting

    @Test(arguments: [ServiceError.Reason.budgetExhausted, .appleRateLimited])
    func `a page waits for the budget as long as it is told`(reason: ServiceError.Reason) async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.fail(ServiceError(reason, "", retryAfter: .seconds(90)), pass: .failures, times: 5)
            try await searching(fixture, history) { _ in
                for waits in 1...5 {
                    try await fixture.base.sleepersHaveArrived(1, within: .seconds(90))
                    fixture.base.clock.advance(by: .seconds(89))
                    #expect(history.questions.count { $0.pass == .failures } == waits)
                    fixture.base.clock.advance(by: .seconds(1))
                }
                try await roundIsOver(fixture)
                #expect(history.questions.count { $0.pass == .failures } == 6)
                #expect(history.questions.last?.pass == .all)
            }
        }
    }

    @Test func `when Apple is out of reach it tries a few times, then again after minutes`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.failAlways(ServiceError(.appleUnavailable, "Apple failed."))
            try await searching(fixture, history) { _ in
                for pause in [2, 4, 8] { try await fixture.advance(by: .seconds(pause)) }
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(300))
                #expect(history.questions.count == 4)
                history.failAlways(nil)
                try await fixture.advance(by: .seconds(300))
                try await roundIsOver(fixture)
            }
            #expect(try await progress(fixture)?.completeUntil == fixture.base.now)
            #expect(fixture.log.lines("could not be read").map { $0.metadata["reason"] } == ["apple-unavailable"])
        }
    }

    @Test func `storage trouble delays a page and loses nothing`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(2, "u"))
            fixture.store.fail(.record)
            try await searching(fixture, history) { _ in
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(2))
                fixture.store.heal()
                try await fixture.advance(by: .seconds(2))
                for uuid in ["u1", "u2"] { try await fixture.applied(uuid) }
                try await roundIsOver(fixture)
                #expect(try await progress(fixture)?.completeUntil != nil)
            }
        }
    }

    // MARK: What is told

    @Test func `the store's outage is told by the store alone`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(2, "u"))
            fixture.store.fail(.record)
            try await searching(fixture, history) { _ in
                for pause in [2, 4, 8] { try await fixture.advance(by: .seconds(pause)) }
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(300))
                fixture.store.heal()
                try await fixture.advance(by: .seconds(300))
                try await roundIsOver(fixture)
            }
            #expect(fixture.log.lines("history").filter { $0.level >= .warning }.isEmpty)
        }
    }

    @Test func `an app without a production release is no news, and its sandbox is searched`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.fail(ServiceError(.noProductionRelease, ""), in: .production, times: 2)
            try await searching(fixture, history, app: NotificationFixture.app) { _ in
                try await roundIsOver(fixture, in: 2)
                try await fixture.advance(by: .seconds(1800), waking: 2)
                try await roundIsOver(fixture, in: 2)
            }
            #expect(history.questions.count { $0.environment == .production } == 2)
            #expect(try await progress(fixture, .sandbox)?.completeUntil == fixture.base.now)
            #expect(fixture.log.lines.isEmpty)
        }
    }

    @Test func `Apple's refusal is told once, until it is another one`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.failAlways(.apple(4_040_007, httpStatus: 404))
            try await searching(fixture, history) { _ in
                for _ in 1...3 {
                    try await roundIsOver(fixture)
                    try await fixture.advance(by: .seconds(1800))
                }
                try await roundIsOver(fixture)
                #expect(fixture.log.lines("could not be read").count == 1)
                history.failAlways(ServiceError(.keyUnavailable, ""))
                try await fixture.advance(by: .seconds(1800))
                try await roundIsOver(fixture)
            }
            #expect(
                fixture.log.lines("could not be read").map { $0.metadata["reason"] } == [
                    "apple-rejected", "key-unavailable",
                ])
            #expect(fixture.log.lines.first?.metadata["apps"] == "coins Production")
        }
    }

    @Test func `a history that does not come to an end is told`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(25, "u"))
            history.forgetTokens()
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            #expect(try await progress(fixture)?.completeUntil == nil)
            #expect(fixture.log.lines("could not be read").count == 1)
        }
    }

    @Test func `a page that does not verify ends its own pass, is told, and lets the others go on`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            history.add(sent(2, "u"))
            history.fail(ServiceError(.appleAnswerInvalid, "", cause: "bundleId"), pass: .failures)
            try await searching(fixture, history) { _ in try await roundIsOver(fixture) }
            #expect(history.questions.map(\.pass) == [.consumptionRequests, .failures, .all])
            #expect(try await progress(fixture)?.completeUntil == fixture.base.now)
            #expect(fixture.log.lines("could not be read").map { $0.metadata["cause"] } == ["bundleId"])
        }
    }
}
