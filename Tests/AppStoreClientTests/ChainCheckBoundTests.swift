import Domain
import Synchronization
import TestSupport
import Testing

@testable import AppStoreClient

struct ChainCheckBoundTests {
    /// Lets checks wait for a room that a test holds, and tells in which order they got it.
    private final class Queue: Sendable {
        let bound: ChainCheckBound
        private let outcomes = Mutex<(entered: [String], shed: [String])>(([], []))

        init(waiting: Int, ofOne: Int? = nil) {
            bound = ChainCheckBound(underWay: 1, waiting: waiting, waitingOfOne: ofOne)
        }

        var entered: [String] { outcomes.withLock(\.entered) }
        var shed: [String] { outcomes.withLock(\.shed) }

        /// Lets checks arrive one after the other, each by its name, whose first letter is its requester; then gives room to one
        /// after the other.
        ///
        /// `waiting`: how many of them wait before anybody gets room.
        func run(_ names: [String], waiting: Int) async throws {
            #expect(await bound.enter(.known(.daemon)))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (index, name) in names.enumerated() {
                    tasks.addTask { await self.enter(name) }
                    try await Wait.until("\(name) to wait or be shed") {
                        self.bound.waitingCount + self.shed.count == index + 1
                    }
                }
                #expect(bound.waitingCount == waiting)
                for count in 1...waiting {
                    bound.leave()
                    try await Wait.until("a check to get room") { self.entered.count == count }
                }
                try await tasks.waitForAll()
            }
            bound.leave()
            #expect(bound.waitingCount == 0)
        }

        private func enter(_ name: String) async {
            let isAdmitted = await bound.enter(.stranger(from: String(name.prefix(1))))
            outcomes.withLock { outcomes in
                if isAdmitted { outcomes.entered.append(name) } else { outcomes.shed.append(name) }
            }
        }
    }

    @Test func `requesters take turns: a second check waits behind the first ones of all others`() async throws {
        let queue = Queue(waiting: 100)
        try await queue.run(["a1", "a2", "a3", "b1", "b2", "c1"], waiting: 6)
        #expect(queue.entered == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.shed.isEmpty)
    }

    @Test func `nobody has more than so many waiting, whatever room there is`() async throws {
        let queue = Queue(waiting: 100, ofOne: 2)
        try await queue.run(["a1", "a2", "a3", "a4", "b1"], waiting: 3)
        #expect(queue.entered == ["a1", "b1", "a2"])
        #expect(queue.shed == ["a3", "a4"])
    }

    @Test func `when all places are taken, the latest of whoever has most gives way to somebody who has less`()
        async throws
    {
        let queue = Queue(waiting: 4)
        try await queue.run(["a1", "a2", "a3", "a4", "b1", "b2", "b3"], waiting: 4)
        #expect(queue.entered == ["a1", "b1", "a2", "b2"])
        // The last of b finds nobody with more than it has itself.
        #expect(queue.shed == ["a4", "a3", "b3"])
    }

    @Test func `of a flood from everywhere those that come late are shed`() async throws {
        let queue = Queue(waiting: 3)
        try await queue.run(["a1", "b1", "c1", "d1", "e1"], waiting: 3)
        #expect(queue.entered == ["a1", "b1", "c1"])
        #expect(queue.shed == ["d1", "e1"])
    }

    /// Counts checks that are under way.
    private final class Counter: Sendable {
        private let counts = Mutex((underWay: 0, most: 0, made: 0))

        func begin() {
            counts.withLock { counts in
                counts.underWay += 1
                counts.most = max(counts.most, counts.underWay)
            }
        }

        func end() {
            counts.withLock { counts in
                counts.underWay -= 1
                counts.made += 1
            }
        }

        var most: Int { counts.withLock(\.most) }
        var made: Int { counts.withLock(\.made) }
    }

    @Test func `no more checks are made at once than there is room for, and those that wait come next`() async throws {
        let bound = ChainCheckBound(underWay: 2, waiting: 100)
        let counter = Counter()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<100 {
                tasks.addTask {
                    try await bound.check(for: .stranger(from: "\(number % 7)")) { () throws(ServiceError) in
                        counter.begin()
                        counter.end()
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(counter.most <= 2)
        #expect(counter.made == 100)
        #expect(bound.waitingCount == 0)
    }

    @Test func `a check that fails gives its room back`() async throws {
        let bound = ChainCheckBound(underWay: 1, waiting: 0)
        for _ in 0..<3 {
            await #expect(throws: ServiceError(.signatureInvalid, "")) {
                try await bound.check(for: .stranger(from: nil)) { () throws(ServiceError) in
                    throw ServiceError(.signatureInvalid, "")
                }
            }
        }
    }

    @Test func `whoever finds neither room nor a place to wait is turned away, and told to come back`() async throws {
        let bound = ChainCheckBound(underWay: 0, waiting: 0)
        let error = await #expect(throws: ServiceError.self) {
            try await bound.check(for: .stranger(from: nil)) { () throws(ServiceError) in }
        }
        #expect(error?.reason == .verificationBusy)
        #expect(error?.retryAfter == .seconds(1))
    }
}
