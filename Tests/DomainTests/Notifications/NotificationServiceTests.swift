import Foundation
import Logging
import TestSupport
import Testing

@testable import Domain

struct NotificationServiceTests {
    private func failure(
        _ fixture: NotificationFixture, _ signed: String, app: App = NotificationFixture.app
    ) async -> ServiceError.Reason? {
        do throws(ServiceError) {
            _ = try await fixture.service.receive(signed, app: app, source: .webhook, for: .stranger(from: nil))
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a notification is kept once, with how and when it came, and is applied afterwards`() async throws {
        try await NotificationFixture.with { fixture in
            fixture.verifier.know("s", as: .success(StoredNotification.sample("u").notification))
            let service = fixture.service
            #expect(
                try await service.receive(
                    "s", app: NotificationFixture.app, source: .forwarded, for: .known(.caller("shop")))
                    == .new(notificationUUID: "u"))
            #expect(
                try await service.receive(
                    "s", app: NotificationFixture.app, source: .webhook, for: .stranger(from: nil))
                    == .known(notificationUUID: "u"))
            try await fixture.applied("u")
            let stored = try await service.notification(app: NotificationFixture.app, uuid: "u")
            #expect(stored.source == .forwarded && stored.receivedAt == fixture.base.now)
            let listed = try await service.notifications(app: NotificationFixture.app, NotificationQuery())
            #expect(listed.map(\.notification.notification.notificationUUID) == ["u"])
            await #expect(throws: ServiceError(.notificationNotFound, "")) {
                try await service.notification(app: DeliveryFixture.otherApp, uuid: "u")
            }
        }
    }

    @Test(arguments: [ServiceError.Reason.signatureInvalid, .environmentNotSupported, .verificationBusy])
    func `what is not verified leaves nothing behind`(reason: ServiceError.Reason) async throws {
        try await NotificationFixture.with { fixture in
            fixture.verifier.know("s", as: .failure(ServiceError(reason, "")))
            #expect(await failure(fixture, "s") == reason)
            #expect(try await fixture.store.quarantineStatus().count == 0)
            let listed = try await fixture.service.notifications(app: NotificationFixture.app, NotificationQuery())
            #expect(listed.isEmpty)
        }
    }

    @Test func `what Apple signed for others goes into quarantine, with an alarm that tells nothing of it`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            fixture.verifier.know(
                "secret", as: .failure(ServiceError(.notificationMisdirected, "", cause: "bundleId is not the app's")))
            #expect(await failure(fixture, "secret") == .notificationMisdirected)
            #expect(await failure(fixture, "secret") == .notificationMisdirected)
            let status = try await fixture.store.quarantineStatus()
            #expect(status.count == 1 && status.latest == fixture.base.now)
            let alarm = try #require(fixture.log.lines("ALARM").first)
            #expect(alarm.level == .error)
            #expect(alarm.metadata == ["app": "coins", "fault": "bundleId is not the app's"])
            let kept = try #require(try await fixture.store.quarantined(after: 0, limit: 10).first).notification
            #expect(kept.signed == "secret" && kept.source == .webhook && kept.fault == "bundleId is not the app's")
        }
    }

    @Test func `a notification that names our bundle id survives a flood of strangers' notifications`() async throws {
        try await NotificationFixture.with { fixture in
            let bound = NotificationQuarantine.boundOfSent
            func send(_ signed: String) async {
                fixture.verifier.know(
                    signed, as: .failure(ServiceError(.notificationMisdirected, "", cause: "wrong environment")))
                #expect(await failure(fixture, signed) == .notificationMisdirected)
            }
            fixture.verifier.name(NotificationFixture.app.bundleID, in: "ours")
            await send("ours")
            for number in 0..<bound.perApp + 1 { await send("stranger \(number)") }
            let kept = try await fixture.store.quarantined(after: 0, limit: bound.inAll).map(\.notification)
            #expect(kept.first?.signed == "ours" && kept.first?.namesOurs == true)
            #expect(kept.count == 1 + bound.strangersPerApp && kept.dropFirst().allSatisfy { !$0.namesOurs })
            #expect(kept.last?.signed == "stranger \(bound.perApp)")
        }
    }

    @Test func `a stranger's notification of more than 128 KiB is not kept, and one of ours is`() async throws {
        try await NotificationFixture.with { fixture in
            let longest = String(repeating: "s", count: NotificationQuarantine.maximumStrangerBytes)
            fixture.verifier.name(NotificationFixture.app.bundleID, in: longest + "ours")
            for signed in [longest, longest + "s", longest + "ours"] {
                fixture.verifier.know(signed, as: .failure(ServiceError(.notificationMisdirected, "")))
                #expect(await failure(fixture, signed) == .notificationMisdirected)
            }
            let kept = try await fixture.store.quarantined(after: 0, limit: 10).map(\.notification.signed)
            #expect(kept == [longest, longest + "ours"])
        }
    }

    @Test func `where the quarantine cannot be written, that is the answer`() async throws {
        try await NotificationFixture.with { fixture in
            fixture.verifier.know("s", as: .failure(ServiceError(.notificationMisdirected, "")))
            fixture.store.fail(.record)
            #expect(await failure(fixture, "s") == .storeUnavailable)
        }
    }

    @Test func `a notification that is older than notifications are kept is refused`() async throws {
        try await NotificationFixture.with { fixture in
            let retention = 180.0 * 24
            fixture.verifier.know(
                "old", as: .success(StoredNotification.sample("old", at: -retention - 0.001).notification))
            fixture.verifier.know("last", as: .success(StoredNotification.sample("last", at: -retention).notification))
            #expect(await failure(fixture, "old") == .notificationTooOld)
            #expect(await failure(fixture, "last") == nil)
            let kept = try await fixture.store.notification(app: "coins", uuid: "old")
            #expect(kept == nil)
        }
    }

    @Test func `of the Sandbox it is refused earlier, as it would go at once`() async throws {
        try await NotificationFixture.with { fixture in
            let retention = 30.0 * 24
            for (name, age, environment) in [
                ("old", retention + 0.001, AppStoreEnvironment.sandbox), ("last", retention, .sandbox),
                ("paid", retention + 0.001, .production),
            ] {
                let sample = StoredNotification.sample(
                    name, at: -age, transaction: .sample(environment: environment))
                fixture.verifier.know(name, as: .success(sample.notification))
            }
            #expect(await failure(fixture, "old") == .notificationTooOld)
            #expect(await failure(fixture, "last") == nil)
            #expect(await failure(fixture, "paid") == nil)
        }
    }

    @Test func `storage trouble is told, and the repetition is new`() async throws {
        try await NotificationFixture.with { fixture in
            fixture.verifier.know("s", as: .success(StoredNotification.sample("u").notification))
            fixture.store.fail(.record)
            #expect(await failure(fixture, "s") == .storeUnavailable)
            fixture.store.heal()
            let receipt = try await fixture.service.receive(
                "s", app: NotificationFixture.app, source: .webhook, for: .stranger(from: nil))
            #expect(receipt == .new(notificationUUID: "u"))
        }
    }
}
