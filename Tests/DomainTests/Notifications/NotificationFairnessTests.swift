import StoreSQL
import StoreSQLite
import TestSupport
import Testing

@testable import Domain

/// What one app has waiting does not keep another's notifications from being applied; counted in notifications, not in time.
struct NotificationFairnessTests {
    private func record(_ count: Int, of app: String, in fixture: NotificationFixture) async throws {
        for number in 1...count {
            let uuid = "\(app)-\(number)"
            _ = try await fixture.store.record(.sample(uuid, type: "TEST", transaction: nil, app: app))
        }
    }

    /// How many notifications were taken up before this one.
    private func before(_ uuid: String, of app: String, in fixture: NotificationFixture) -> Int {
        fixture.store.processedOrder.firstIndex(of: NotificationKey(app: app, notificationUUID: uuid)) ?? .max
    }

    @Test func `a request that an app finds behind thousands of another's is in the first batch`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            try await record(3_000, of: "coins", in: fixture)
            _ = try await fixture.store.record(.sample("request", app: "gems"))
            try await fixture.during([fixture.processor.run]) { try await fixture.applied("request", app: "gems") }
            #expect(before("request", of: "gems", in: fixture) < NotificationProcessor.batchSize)
        }
    }

    @Test func `one that comes while a batch of another's is applied is in the next`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            try await record(1_000, of: "coins", in: fixture)
            fixture.store.processing.close()
            try await fixture.during([fixture.processor.run]) {
                await fixture.store.processing.hasArrivals(1)
                try await fixture.take(.sample("request", app: "gems"))
                fixture.store.processing.open()
                try await fixture.applied("request", app: "gems")
            }
            let batch = NotificationProcessor.batchSize
            #expect((batch..<2 * batch).contains(before("request", of: "gems", in: fixture)))
        }
    }

    @Test func `a batch that lasts long ends before it is through, for those that came meanwhile`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            try await record(1_000, of: "coins", in: fixture)
            fixture.store.processing.close()
            try await fixture.during([fixture.processor.run]) {
                await fixture.store.processing.hasArrivals(NotificationProcessor.concurrency)
                try await fixture.take(.sample("request", app: "gems"))
                fixture.base.clock.advance(by: NotificationProcessor.batchTime)
                fixture.store.processing.open()
                try await fixture.applied("request", app: "gems")
                try await fixture.applied("coins-1000")
            }
            let begun = NotificationProcessor.concurrency
            #expect(
                (begun..<begun + NotificationProcessor.batchSize).contains(before("request", of: "gems", in: fixture)))
        }
    }

    @Test func `apps that a batch did not get to come first in the next`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let apps = (10..<10 + 3 * NotificationProcessor.concurrency).map { "app-\($0)" }
            for app in apps { try await record(100, of: app, in: fixture) }
            fixture.store.processing.close()
            try await fixture.during([fixture.processor.run]) {
                await fixture.store.processing.hasArrivals(NotificationProcessor.concurrency)
                fixture.base.clock.advance(by: NotificationProcessor.batchTime)
                fixture.store.processing.open()
                for app in apps { try await fixture.applied("\(app)-1", app: app) }
            }
            let begun = fixture.store.processedOrder.prefix(2 * NotificationProcessor.concurrency).map(\.app)
            #expect(
                Set(begun.suffix(NotificationProcessor.concurrency)).isDisjoint(
                    with: begun.prefix(NotificationProcessor.concurrency)))
        }
    }

    @Test func `more apps than a batch has room for take turns from batch to batch`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let apps = (1...NotificationProcessor.batchSize + 50).map { "app-\($0)" }
            for app in apps { try await record(2, of: app, in: fixture) }
            try await fixture.during([fixture.processor.run]) {
                for app in apps { try await fixture.applied("\(app)-2", app: app) }
            }
            for app in apps {
                #expect(before("\(app)-1", of: app, in: fixture) < 2 * NotificationProcessor.batchSize, "\(app)")
            }
        }
    }

    @Test func `a long sequence about one transaction, which goes one by one, keeps nobody waiting to its end`()
        async throws
    {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let count = 3 * NotificationProcessor.longestSequence
            for number in 1...count {
                _ = try await fixture.store.record(.sample("renewal-\(number)", type: "DID_RENEW"))
            }
            fixture.store.processing.close()
            try await fixture.during([fixture.processor.run]) {
                await fixture.store.processing.hasArrivals(1)
                try await fixture.take(.sample("request", app: "gems"))
                fixture.store.processing.open()
                try await fixture.applied("request", app: "gems")
                try await fixture.applied("renewal-\(count)")
            }
            // In the next batch it goes beside the sequence.
            #expect(before("request", of: "gems", in: fixture) <= 2 * NotificationProcessor.longestSequence)
            let renewals = fixture.store.processedOrder.filter { $0.app == "coins" }.map(\.notificationUUID)
            #expect(renewals == (1...count).map { "renewal-\($0)" })
        }
    }

    @Test func `those that fail for their own sake are tried beside the rest, and take nobody's turn`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let count = NotificationProcessor.batchSize + 20
            try await record(count, of: "coins", in: fixture)
            for number in 1...count { fixture.store.fail(.notification("coins-\(number)")) }
            _ = try await fixture.store.record(.sample("request", app: "gems"))
            try await fixture.during([fixture.processor.run]) {
                try await fixture.applied("request", app: "gems")
                try await fixture.take(.sample("later", app: "gems"))
                try await fixture.applied("later", app: "gems")
                fixture.store.heal()
                try await fixture.advance(by: NotificationBacklog.longestPostponement)
                try await fixture.applied("coins-\(count)")
            }
        }
    }
}
