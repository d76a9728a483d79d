import Foundation
import TestSupport
import Testing

@testable import Domain

struct HistoryQueueTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// The next items, as `3` for the requests of app 3 and `-3` for the rest.
    private func next(_ queue: inout HistoryQueue, _ count: Int, at seconds: Int = 0, isOver: Bool = false) -> [Int] {
        (0..<count).compactMap { _ in
            queue.next(at: at(seconds), isOver: isOver).map { $0.part == .requests ? $0.app : -$0.app }
        }
    }

    @Test func `everybody's requests come before the rest of anybody`() {
        var queue = HistoryQueue(apps: 4, leftOver: [2])
        #expect(next(&queue, 2) == [0, 1])
        queue.append(HistoryQueue.Item(app: 1, part: .rest))
        queue.append(HistoryQueue.Item(app: 0, part: .requests))
        #expect(next(&queue, 9) == [2, 3, 0, -2, -1])
        #expect(queue.isEmpty(isOver: false) && queue.left.isEmpty)
    }

    @Test func `who waits is passed over until it is due, and then comes first`() {
        var queue = HistoryQueue(apps: 2, leftOver: [])
        queue.append(HistoryQueue.Item(app: 7, part: .requests), notBefore: at(5))
        queue.append(HistoryQueue.Item(app: 8, part: .rest), notBefore: at(3))
        #expect(queue.nextDue == at(3))
        #expect(next(&queue, 1, at: 2) == [0])
        #expect(next(&queue, 1, at: 5) == [7])
        #expect(next(&queue, 2, at: 2) == [1])
        #expect(!queue.isEmpty(isOver: false) && !queue.isReady(isOver: false))
        #expect(next(&queue, 2, at: 3) == [-8])
    }

    @Test func `when the round is over, requests alone go on`() {
        var queue = HistoryQueue(apps: 1, leftOver: [5])
        queue.append(HistoryQueue.Item(app: 6, part: .requests), notBefore: at(1))
        #expect(queue.isReady(isOver: true))
        #expect(next(&queue, 9, at: 2, isOver: true) == [0])
        #expect(queue.isEmpty(isOver: true) && !queue.isEmpty(isOver: false))
        #expect(queue.left.map(\.app) == [5, 6])
    }

    @Test func `an outage begins with five failures in a row, and one at a time looks whether it is over`() {
        var outage = HistoryOutage()
        func fails(at seconds: Int) -> Bool { outage.failed(retryAfter: nil, at: at(seconds)) }
        func succeeds() -> Bool { outage.succeeded() }
        for _ in 1...4 { #expect(fails(at: 0) == false) }
        #expect(succeeds() == false)
        for _ in 1...4 { #expect(fails(at: 0) == false) }
        #expect(outage.slots(at: at(0), of: 16) == 16)
        #expect(fails(at: 0))
        #expect(outage.until == at(5))
        // What was under way when it began tells nothing new.
        #expect(fails(at: 1) == false)
        #expect(outage.until == at(5))
        #expect(outage.slots(at: at(4), of: 16) == 0)
        #expect(outage.slots(at: at(5), of: 16) == 1)
        #expect(succeeds())
        #expect(outage.slots(at: at(5), of: 16) == 16)
    }

    @Test func `the pauses of an outage grow to a minute, and heed what is known`() {
        var outage = HistoryOutage()
        for _ in 1...5 { _ = outage.failed(retryAfter: .seconds(7), at: at(0)) }
        #expect(outage.until == at(7))
        var now = 7
        for pause in [10, 20, 40, 60, 60] {
            _ = outage.failed(retryAfter: nil, at: at(now))
            now += pause
            #expect(outage.until == at(now))
        }
        _ = outage.failed(retryAfter: .seconds(3600), at: at(now))
        #expect(outage.until == at(now + 60))
    }
}
