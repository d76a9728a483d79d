package import Domain
import Foundation
import Testing

/// What every store of events must do.
package struct EventStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = EventStore & NotificationStore & StoreMaintenance
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases: [EventStoreContract] = [
        EventStoreContract("events are read on from a position, an app's alone or all") { store in
            for number in 0..<10 {
                _ = try await store.record(.sample("\(number)", app: number.isMultiple(of: 2) ? "coins" : "gems"))
            }
            let all = try await store.events(after: 0, limit: 100)
            #expect(all.map(\.subject) == (0..<10).map(String.init))
            #expect(all.map(\.position) == all.map(\.position).sorted())
            #expect(try await store.events(after: all[3].position, limit: 2) == Array(all[4...5]))
            let coins = try await store.events(app: "coins", after: 0, limit: 100)
            #expect(coins == all.filter { $0.app == "coins" })
            #expect(try await store.events(app: "coins", after: coins[1].position, limit: 2) == Array(coins[2...3]))
            #expect(try await store.events(app: "coins", after: all[9].position, limit: 2).isEmpty)
            #expect(try await store.events(app: "other", after: 0, limit: 2).isEmpty)
        },
        EventStoreContract("a reader who goes on from its position misses nothing of what many write") { store in
            let writers = 8
            let each = 40
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for number in 0..<each { _ = try await store.record(.sample("\(writer)-\(number)")) }
                    }
                }
                for _ in 0..<2 {
                    group.addTask {
                        var seen: [ServiceEvent] = []
                        while seen.count < writers * each {
                            seen += try await store.events(
                                app: "coins", after: seen.last?.position ?? 0, limit: 7)
                        }
                        #expect(seen == (try await store.events(after: 0, limit: writers * each + 1)))
                        for writer in 0..<writers {
                            let own = seen.map(\.subject).filter { $0.hasPrefix("\(writer)-") }
                            #expect(own == (0..<each).map { "\(writer)-\($0)" })
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        EventStoreContract("a time leads to the position before what happened then") { store in
            #expect(try await store.eventPosition(before: CaseModel.time(0)) == 0)
            for hour in [1.0, 2, 3] {
                _ = try await store.record(.sample("\(hour) a", at: hour))
                _ = try await store.record(.sample("\(hour) b", at: hour))
            }
            let events = try await store.events(after: 0, limit: 10)
            for (hour, first) in [(0.0, 0), (1, 0), (1.5, 2), (2, 2), (3, 4)] {
                let position = try await store.eventPosition(before: CaseModel.time(hour))
                #expect(try await store.events(after: position, limit: 10) == Array(events[first...]))
            }
            let end = try await store.eventPosition(before: CaseModel.time(4))
            #expect(end == events.last?.position)
        },
        EventStoreContract("events that commit a little out of the order of their times are found by time") { store in
            for second in [10.0, 30, 20, 40] {
                _ = try await store.record(.sample("\(Int(second))", at: second / 3600))
            }
            let position = try await store.eventPosition(before: CaseModel.time(30.0 / 3600))
            #expect(try await store.events(after: position, limit: 10).map(\.subject) == ["30", "20", "40"])
        },
        EventStoreContract("what is forgotten is known, even when nothing is left") { store in
            let epoch = try await store.eventBounds().epoch
            #expect(!epoch.isEmpty)
            func bounds(_ forgotten: Int64, _ latest: Int64) -> EventBounds {
                EventBounds(forgotten: forgotten, latest: latest, epoch: epoch)
            }
            #expect(try await store.eventBounds() == bounds(0, 0))
            for hour in [1.0, 2, 3] { _ = try await store.record(.sample("\(hour)", at: hour)) }
            let latest = try #require(try await store.events(after: 0, limit: 10).last).position
            #expect(try await store.eventBounds() == bounds(0, latest))
            var policy = RetentionPolicy()
            policy.events = .seconds(3600)
            _ = try await store.enforceRetention(policy, at: CaseModel.time(3.5), limit: 10)
            let kept = try await store.events(after: 0, limit: 10)
            #expect(kept.map(\.subject) == ["3.0"])
            #expect(try await store.eventBounds() == bounds(kept[0].position - 1, latest))
            _ = try await store.enforceRetention(policy, at: CaseModel.time(9), limit: 10)
            #expect(try await store.eventBounds() == bounds(latest, latest))
            _ = try await store.record(.sample("again", at: 9))
            #expect(try await store.eventBounds() == bounds(latest, latest + 1))
        },
    ]
}
