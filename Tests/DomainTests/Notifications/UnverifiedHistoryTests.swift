import Foundation
import Logging
import TestSupport
import Testing

@testable import Domain

/// What Apple's history holds and does not verify, because our configuration is wrong: it is not lost.
struct UnverifiedHistoryTests {
    private static let app = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
    private static let day = 86_400.0

    private func roundIsOver(_ fixture: NotificationFixture) async throws {
        try await fixture.base.sleepersHaveArrived(1, within: .seconds(1800))
    }

    /// Requests that Apple's history holds, and that do not verify as long as the configuration is wrong.
    private func requests(_ count: Int, hoursAgo: Double = 2) -> [StoredNotification] {
        (1...count).map {
            .sample("r\($0)", at: -hoursAgo, transaction: .sample(id: "r\($0)"), source: .history)
        }
    }

    private func misread(_ requests: [StoredNotification]) -> [UnverifiedNotification] {
        requests.map { request in
            let notification = request.notification
            return UnverifiedNotification(
                signed: notification.signed, fault: "appAppleId is not the app's",
                claims: NotificationClaims(
                    notificationUUID: notification.notificationUUID, environment: .production,
                    signedAt: notification.signedAt))
        }
    }

    /// Makes the verifier say what our configuration makes of them.
    private func configure(_ fixture: NotificationFixture, _ requests: [StoredNotification], isRight: Bool) {
        for request in requests {
            fixture.verifier.know(
                request.notification.signed,
                as: isRight
                    ? .success(request.notification)
                    : .failure(
                        ServiceError(.notificationMisdirected, "", cause: "appAppleId is not the app's")))
        }
    }

    private func leaveUnkept(since: Date, _ fixture: NotificationFixture) async throws {
        _ = try await fixture.store.saveHistoryProgress(
            HistoryProgress(completeUntil: fixture.base.now, unkeptSince: since), replacing: nil, app: "coins",
            environment: .production)
    }

    private func quarantined(_ fixture: NotificationFixture) async throws -> [QuarantinedNotification] {
        try await fixture.store.quarantined(after: 0, limit: 2_000).map(\.notification)
    }

    @Test func `what does not verify is kept, told once, and those behind it are found`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            let requests = requests(2)
            history.add((1...25).map { .sample("u\($0)", type: "DID_RENEW", at: -2, transaction: nil) })
            history.add(unverified: misread(requests))
            try await fixture.searching(history, app: Self.app) { search in
                try await roundIsOver(fixture)
                let progress = try await fixture.store.historyProgress(app: "coins", environment: .production)
                #expect(progress == HistoryProgress(completeUntil: fixture.base.now))
                search.searchSoon()
                try await Wait.until("the next round") { history.questions.count >= 7 }
                try await roundIsOver(fixture)
            }
            try await fixture.applied("u25")
            let kept = try await quarantined(fixture)
            #expect(kept.map(\.claims.notificationUUID) == ["r1", "r2"])
            #expect(kept.allSatisfy { $0.source == .history && $0.fault == "appAppleId is not the app's" })
            #expect(kept.allSatisfy { $0.keptUntil == CaseModel.time(180 * 24 - 2) })
            let alarm = try #require(fixture.log.lines("ALARM").first)
            #expect(fixture.log.lines("ALARM").count == 1 && alarm.level == .error)
            #expect(
                alarm.metadata == [
                    "apps": "coins Production", "notifications": "2", "fault": "appAppleId is not the app's",
                ])
            #expect(fixture.log.lines("could not be read").isEmpty)
        }
    }

    @Test func `once it verifies it is a notification like any other, and leaves the list`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            let requests = requests(60)
            history.add(unverified: misread(requests))
            configure(fixture, requests, isRight: false)
            try await fixture.searching(history, app: Self.app) { _ in try await roundIsOver(fixture) }
            try await fixture.during([fixture.quarantine.run]) {
                // At the start, in vain.
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(86_400))
                #expect(try await quarantined(fixture).allSatisfy { $0.triedAt == fixture.base.now })
                configure(fixture, requests, isRight: true)
                // A day later.
                fixture.base.clock.advance(by: .seconds(86_400))
                for request in requests {
                    let applied = try await fixture.applied(request.notification.notificationUUID)
                    #expect(applied.source == .history && applied.receivedAt == fixture.base.now)
                }
            }
            #expect(try await fixture.store.quarantineStatus().count == 0)
            #expect(try await fixture.refundCase(of: "r60") != nil)
            #expect(fixture.log.lines("verifies now").map { $0.metadata["notifications"] } == ["60"])
        }
    }

    @Test func `whoever changes the configuration has it tried at once`() async throws {
        try await NotificationFixture.with { fixture in
            let requests = requests(1)
            configure(fixture, requests, isRight: false)
            _ = try await fixture.quarantine.keep(misread(requests)[0], of: Self.app, in: .production)
            try await fixture.during([fixture.quarantine.run]) {
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(86_400))
                configure(fixture, requests, isRight: true)
                fixture.services.refunds.retryUnverified()
                try await fixture.applied("r1")
            }
        }
    }

    @Test func `what cannot be looked at now is tried again within minutes`() async throws {
        try await NotificationFixture.with { fixture in
            let requests = requests(2)
            for request in misread(requests) {
                _ = try await fixture.quarantine.keep(request, of: Self.app, in: .production)
            }
            configure(fixture, requests, isRight: true)
            fixture.verifier.know("n.r1.n", as: .failure(ServiceError(.verificationBusy, "")))
            try await fixture.during([fixture.quarantine.run]) {
                try await fixture.applied("r2")
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(300))
                #expect(try await quarantined(fixture).map(\.triedAt) == [nil])
                configure(fixture, requests, isRight: true)
                fixture.store.fail(.read)
                fixture.base.clock.advance(by: .seconds(300))
                try await fixture.store.hasFailed(1)
                fixture.store.heal()
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(300))
                fixture.base.clock.advance(by: .seconds(300))
                try await fixture.applied("r1")
            }
        }
    }

    @Test func `what Apple's history does not hold any more, or nobody could verify, is not kept`() async throws {
        try await NotificationFixture.with { fixture in
            let old = misread(requests(1, hoursAgo: 30 * 24))[0]
            let empty = UnverifiedNotification(
                signed: "", fault: "signedPayload is missing", claims: NotificationClaims())
            for (unverified, environment) in [
                (old, AppStoreEnvironment.sandbox), (empty, .production), (old, .production),
            ] {
                let receipt = try await fixture.quarantine.keep(unverified, of: Self.app, in: environment)
                #expect(receipt == (environment == .production && !unverified.signed.isEmpty ? .new : .known))
            }
            #expect(try await quarantined(fixture).map(\.keptUntil) == [CaseModel.time(150 * 24)])
        }
    }

    @Test func `what there was no room for is looked for again, at the start and each day, until it is kept`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            let start = fixture.base.now
            let requests = requests(NotificationQuarantine.boundOfHistory.perApp + 1, hoursAgo: 50)
            history.add(unverified: misread(requests))
            try await fixture.searching(history, app: Self.app) { search in
                try await roundIsOver(fixture)
                let progress = try await fixture.store.historyProgress(app: "coins", environment: .production)
                let unkept = start - 3 * Self.day
                #expect(progress == HistoryProgress(completeUntil: start, unkeptSince: unkept))
                // In between the search goes on as if nothing were missing.
                try await fixture.advance(by: .seconds(1800))
                try await roundIsOver(fixture)
                #expect(history.questions.last?.start == start - 3600)
                // The configuration is mended.
                history.verify(as: requests)
                search.retryUnverified()
                for request in requests { try await fixture.applied(request.notification.notificationUUID) }
                try await roundIsOver(fixture)
                let mended = try await fixture.store.historyProgress(app: "coins", environment: .production)
                #expect(mended == HistoryProgress(completeUntil: fixture.base.now))
            }
            // And at the next start, and after a day.
            try await leaveUnkept(since: start - 5 * Self.day, fixture)
            try await fixture.searching(history, app: Self.app) { _ in
                try await roundIsOver(fixture)
                #expect(history.questions.count { $0.token == nil && $0.start == start - 5 * Self.day - 3600 } == 1)
                try await leaveUnkept(since: start - 6 * Self.day, fixture)
                try await fixture.advance(by: .seconds(86_400 - 1))
                try await roundIsOver(fixture)
                #expect(!history.questions.contains { $0.start == start - 6 * Self.day - 3600 })
                try await fixture.advance(by: .seconds(1800))
                try await roundIsOver(fixture)
                #expect(history.questions.count { $0.token == nil && $0.start == start - 6 * Self.day - 3600 } == 1)
            }
        }
    }
}
