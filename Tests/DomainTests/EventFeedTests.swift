import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

/// Waits of readers are ended by the test: through its gate, never by time.
@Suite(.endsHangs) struct EventFeedTests {
    private let store = ListedEvents()
    private let changes = ChangeSignal()
    private let coins = App(slug: "coins", bundleID: "com.example.coins")
    private let chess = App(slug: "chess", bundleID: "com.example.chess")

    private func cursor(_ position: Int64) -> EventCursor { EventCursor(epoch: "e1", position: position) }

    private var feed: EventFeed {
        EventFeed(store: store, changes: changes) { _ in
            // Only a cancelled wait ends: a reader is answered by an event or by the test's end.
            let (never, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            try Task.checkCancellation()
        }
    }

    @Test func `events of an app are read in order, from a cursor on, a page at a time`() async throws {
        for number in 1...5 { store.append(number.isMultiple(of: 2) ? "chess" : "coins") }
        let first = try await feed.events(app: coins, from: .cursor(cursor(0)), limit: 2, wait: .zero)
        #expect(first.events.map(\.position) == [1, 3])
        #expect(first.hasMore)
        let second = try await feed.events(app: coins, from: .cursor(first.cursor), limit: 2, wait: .zero)
        #expect(second.events.map(\.position) == [5])
        #expect(!second.hasMore)
        let third = try await feed.events(app: coins, from: .cursor(second.cursor), limit: 2, wait: .zero)
        #expect(third.events.isEmpty)
        #expect(third.cursor == second.cursor)
    }

    @Test func `a forgotten cursor and one from nowhere are refused`() async throws {
        for _ in 1...3 { store.append("coins") }
        store.forget(upTo: 2)
        await #expect(throws: ServiceError(.cursorExpired, "")) {
            _ = try await feed.events(app: coins, from: .cursor(cursor(1)), limit: 10, wait: .zero)
        }
        await #expect(throws: ServiceError(.invalidRequest, "")) {
            _ = try await feed.events(app: coins, from: .cursor(cursor(4)), limit: 10, wait: .zero)
        }
        let page = try await feed.events(app: coins, from: .cursor(cursor(2)), limit: 10, wait: .zero)
        #expect(page.events.map(\.position) == [3])
    }

    @Test func `a cursor of another epoch is expired, whatever its position`() async throws {
        for _ in 1...3 { store.append("coins") }
        for position in [0, 2, 3, 9] as [Int64] {
            let error = await #expect(throws: ServiceError.self) {
                try await feed.events(
                    app: coins, from: .cursor(EventCursor(epoch: "e0", position: position)), limit: 10, wait: .zero)
            }
            #expect(error?.reason == .cursorExpired && error?.message.contains("restored from a backup") == true)
        }
    }

    @Test func `a cursor without an epoch is good as far as releases gave such out, and zero always`() async throws {
        for _ in 1...3 { store.append("coins") }
        func read(_ position: Int64) async throws -> [Int64] {
            let cursor = EventCursor(epoch: nil, position: position)
            let page = try await feed.events(app: coins, from: .cursor(cursor), limit: 10, wait: .zero)
            #expect(page.cursor.epoch == "e1")
            return page.events.map(\.position)
        }
        #expect(try await read(0) == [1, 2, 3])
        await #expect(throws: ServiceError(.cursorExpired, "")) { try await read(1) }
        store.knewNoEpochs(upTo: 2)
        #expect(try await read(2) == [3])
        await #expect(throws: ServiceError(.cursorExpired, "")) { try await read(3) }
    }

    @Test(
        arguments: [
            ("0", "0"), ("7", "7"), ("e1-7", "e1-7"), ("e1-0", "e1-0"), ("", nil), ("-1", nil), ("01", nil),
            ("e1-01", nil),
            ("e1-", nil), ("e1--1", nil), ("e1", nil), ("9223372036854775808", nil), ("+1", nil), ("e1-7 ", nil),
        ] as [(String, String?)])
    func `a cursor is a text and back, and nothing else is one`(text: String, written: String?) {
        #expect(EventCursor(text)?.text == written)
    }

    @Test func `a reader who waits gets the next event of its app, and no other app's`() async throws {
        store.append("coins")
        let feed = feed
        try await withThrowingTaskGroup(of: EventFeed.Page?.self) { group in
            group.addTask {
                await feed.run()
                return nil
            }
            group.addTask { [coins] in
                try await feed.events(app: coins, from: .now, limit: 10, wait: .seconds(60))
            }
            try await Wait.until("a reader who waits") { feed.waitingCount == 1 }
            store.append("chess")
            changes.send()
            store.append("coins")
            // The loop may not listen yet: whoever rings before that is not heard.
            try await Wait.until("the reader to be told") {
                changes.send()
                return feed.waitingCount == 0
            }
            let page = try #require(try await group.next() ?? nil)
            #expect(page.events.map(\.position) == [3])
            #expect(page.cursor == EventCursor(epoch: "e1", position: 3))
            group.cancelAll()
        }
    }

    @Test func `thousands who wait are told by one question to the store`() async throws {
        let feed = feed
        let readers = 5000
        try await withThrowingTaskGroup(of: EventFeed.Page?.self) { group in
            group.addTask {
                await feed.run()
                return nil
            }
            // The loop's first look asks everyone to look again; from the second on it tells by itself.
            group.addTask { [chess] in
                try await feed.events(app: chess, from: .now, limit: 10, wait: .seconds(60))
            }
            try await Wait.until("a reader who waits") { feed.waitingCount == 1 }
            store.append("chess")
            try await Wait.until("the reader to be told") {
                changes.send()
                return feed.waitingCount == 0
            }
            _ = try await group.next()
            for _ in 0..<readers {
                group.addTask { [coins] in
                    try await feed.events(app: coins, from: .now, limit: 10, wait: .seconds(60))
                }
            }
            try await Wait.until("all readers to wait") { feed.waitingCount == readers }
            // Nobody waited at the last ring, perhaps: this one is for the loop to catch up with.
            changes.send()
            try await Wait.until("a look at the store") { store.looks > 0 }
            let before = store.questions
            store.append("coins")
            changes.send()
            for _ in 0..<readers {
                let page = try #require(try await group.next() ?? nil)
                #expect(page.events.count == 1)
            }
            #expect(store.questions - before <= readers + 10)
            group.cancelAll()
        }
    }

    /// Whether a signal has come that nobody has heard: a task that is cancelled gets what is there, and waits for nothing.
    private func hasUnheard(_ signals: AsyncStream<Void>) async -> Bool {
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var heard = signals.makeAsyncIterator()
            return await heard.next() != nil
        }.value
    }

    @Test func `whoever needs no signal is not woken`() async {
        let (needed, needless) = (changes.signals { true }, changes.signals { false })
        changes.send()
        #expect(await hasUnheard(needed))
        #expect(await !hasUnheard(needless))
    }

    @Test func `a reader hears of what comes after events that nobody waited for`() async throws {
        let feed = feed
        try await withThrowingTaskGroup(of: EventFeed.Page?.self) { group in
            group.addTask {
                await feed.run()
                return nil
            }
            for round in 0..<3 {
                // Nobody is told of these.
                for _ in 0..<5 {
                    store.append("coins")
                    changes.send()
                }
                group.addTask { [coins] in
                    try await feed.events(app: coins, from: .now, limit: 10, wait: .seconds(60))
                }
                try await Wait.until("a reader who waits") { feed.waitingCount == 1 }
                store.append("coins")
                try await Wait.until("the reader to be told") {
                    changes.send()
                    return feed.waitingCount == 0
                }
                let page = try #require(try await group.next() ?? nil)
                #expect(page.events.map(\.position) == [Int64(round + 1) * 6])
            }
            group.cancelAll()
        }
    }

    @Test func `a wait in vain answers with the cursor that was given`() async throws {
        store.append("coins")
        let feed = EventFeed(store: store, changes: changes) { _ in }
        let page = try await feed.events(app: coins, from: .cursor(cursor(1)), limit: 10, wait: .seconds(60))
        #expect(page == EventFeed.Page(events: [], cursor: cursor(1), hasMore: false))
        #expect(feed.waitingCount == 0)
    }

    @Test func `nobody waits any more once the feed has ended`() async throws {
        let feed = feed
        let loop = Task { await feed.run() }
        async let page = feed.events(app: coins, from: .now, limit: 10, wait: .seconds(3600))
        try await Wait.until("a reader who waits") { feed.waitingCount == 1 }
        loop.cancel()
        #expect(try await page.events.isEmpty)
        await loop.value
        let late = try await feed.events(app: coins, from: .now, limit: 10, wait: .seconds(3600))
        #expect(late.events.isEmpty)
    }
}

/// Events in a list: what the feed asks, without a database's time.
private final class ListedEvents: EventStore {
    private struct State {
        var events: [ServiceEvent] = []
        var forgotten: Int64 = 0
        var latestWithoutEpoch: Int64 = 0
        var questions = 0
        var looks = 0
    }

    private let state = Mutex(State())

    var questions: Int { state.withLock(\.questions) }
    var looks: Int { state.withLock(\.looks) }

    func append(_ app: String) {
        state.withLock { state in
            let position = Int64(state.events.count + 1)
            state.events.append(
                ServiceEvent(
                    position: position, app: app, kind: .caseOpened, subject: "case-\(position)",
                    at: Date(timeIntervalSince1970: TimeInterval(position))))
        }
    }

    func knewNoEpochs(upTo position: Int64) { state.withLock { $0.latestWithoutEpoch = position } }

    func forget(upTo position: Int64) { state.withLock { $0.forgotten = position } }

    func events(app: String, after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent] {
        state.withLock { state in
            state.questions += 1
            return Array(state.events.filter { $0.app == app && $0.position > position }.prefix(limit))
        }
    }

    func events(after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent] {
        state.withLock { state in
            state.questions += 1
            state.looks += 1
            return Array(state.events.filter { $0.position > position }.prefix(limit))
        }
    }

    func eventPosition(before date: Date) async throws(ServiceError) -> Int64 {
        state.withLock { state in state.events.last { $0.at < date }?.position ?? 0 }
    }

    func eventBounds() async throws(ServiceError) -> EventBounds {
        state.withLock { state in
            EventBounds(
                forgotten: state.forgotten, latest: Int64(state.events.count), epoch: "e1",
                latestWithoutEpoch: state.latestWithoutEpoch)
        }
    }
}
