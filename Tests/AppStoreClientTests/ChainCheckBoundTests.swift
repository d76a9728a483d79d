import Domain
import Synchronization
import Testing

@testable import AppStoreClient

struct ChainCheckBoundTests {
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
            for _ in 0..<100 {
                tasks.addTask {
                    try await bound.check { () throws(ServiceError) in
                        counter.begin()
                        counter.end()
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(counter.most <= 2)
        #expect(counter.made == 100)
    }

    @Test func `a check that fails gives its room back`() async throws {
        let bound = ChainCheckBound(underWay: 1, waiting: 0)
        for _ in 0..<3 {
            await #expect(throws: ServiceError(.signatureInvalid, "")) {
                try await bound.check { () throws(ServiceError) in throw ServiceError(.signatureInvalid, "") }
            }
        }
    }

    @Test func `whoever finds neither room nor a place to wait is turned away, and told to come back`() async throws {
        let bound = ChainCheckBound(underWay: 0, waiting: 0)
        let error = await #expect(throws: ServiceError.self) {
            try await bound.check { () throws(ServiceError) in }
        }
        #expect(error?.reason == .verificationBusy)
        #expect(error?.retryAfter == .seconds(1))
    }
}
