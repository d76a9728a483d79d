import Synchronization
import TestSupport
import Testing

@testable import AppStoreClient

@Suite(.endsHangs) struct SingleFlightTests {
    private let clock = TestClock()
    private let gate = Gate()
    private let flights: SingleFlight<String, Int>

    init() {
        flights = SingleFlight(maximumFlights: 1, maximumWaiters: 100, clock: clock.service)
        gate.close()
    }

    /// Waits until so many wait under the key.
    private func hasWaiters(_ count: Int, _ key: String = "a") async throws {
        try await Wait.until("\(count) who wait under the key \(key)") { flights.waiterCount(key) == count }
    }

    @Test func `many who want the same wait for one piece of work`() async throws {
        let works = Counter()
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 {
                group.addTask { [flights, clock, gate] in
                    await flights.share("a", until: clock.after(.seconds(9))) { _ in
                        works.increment()
                        await gate.pass()
                        return 42
                    }
                }
            }
            try await hasWaiters(50)
            gate.open()
            for try await value in group { #expect(value == 42) }
        }
        #expect(works.value == 1)
        #expect(flights.waiterCount("a") == 0)
    }

    @Test func `one who is cancelled leaves the others alone`() async throws {
        let leader = Task { [flights, clock, gate] in
            await flights.share("a", until: clock.after(.seconds(9))) { _ in
                await gate.pass()
                return Task.isCancelled ? 0 : 42
            }
        }
        try await hasWaiters(1)
        let follower = Task { [flights, clock] in
            await flights.share("a", until: clock.after(.seconds(9))) { _ in 7 }
        }
        try await hasWaiters(2)
        leader.cancel()
        #expect(await leader.value == nil)
        gate.open()
        #expect(await follower.value == 42)
    }

    @Test func `when the last has left, the work is cancelled`() async throws {
        let ended = Gate()
        let task = Task { [flights, clock, gate] in
            await flights.share("a", until: clock.after(.seconds(9))) { _ in
                await gate.pass()
                if Task.isCancelled { await ended.pass() }
                return 0
            }
        }
        await gate.hasArrivals(1)
        try await hasWaiters(1)
        task.cancel()
        #expect(await task.value == nil)
        await ended.hasArrivals(1)
    }

    @Test(arguments: [true, false])
    func `one whose time is over leaves, and the work has the time of the latest`(leaderHasMore: Bool) async throws {
        let times: [Duration] = leaderHasMore ? [.seconds(9), .seconds(3)] : [.seconds(3), .seconds(9)]
        let start = clock.instant
        let last = try await withThrowingTaskGroup(of: (Int, Int?).self) { group in
            for (number, time) in times.enumerated() {
                group.addTask { [flights, gate] in
                    let value = await flights.share("a", until: start + time) { deadline in
                        await gate.pass()
                        return Int(start.duration(to: deadline.instant).components.seconds)
                    }
                    return (number, value)
                }
                try await hasWaiters(number + 1)
            }
            await clock.manual.sleeperHasArrived()
            clock.manual.advance(by: .seconds(3))
            let first = try await group.next()
            #expect(first?.0 == (leaderHasMore ? 1 : 0))
            #expect(first?.1 == nil)
            gate.open()
            return try await group.next()
        }
        #expect(last?.1 == 9)
    }

    @Test func `who finds no room works alone`() async throws {
        let leader = Task { [flights, clock, gate] in
            await flights.share("a", until: clock.after(.seconds(9))) { _ in
                await gate.pass()
                return 1
            }
        }
        try await hasWaiters(1)
        #expect(await flights.share("b", until: clock.after(.seconds(9))) { _ in 2 } == 2)
        gate.open()
        #expect(await leader.value == 1)
    }
}

/// Counts from any task.
final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func increment() { count.add(1, ordering: .relaxed) }
}
