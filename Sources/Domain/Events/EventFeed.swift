package import Foundation
import Synchronization

/// Follows what happens, for callers that read on from a cursor and wait for more.
///
/// Whoever waits costs a few hundred bytes and no question to the store: one reader looks after each commit and hands what
/// it finds to all who wait for that app.
package final class EventFeed: Sendable {
    /// The most events of one page.
    package static let maximumPageSize = 1000
    /// How many may wait at once; whoever comes then is answered without waiting.
    package static let maximumWaiting = 20_000

    /// Where a reader begins.
    package enum Start: Sendable, Equatable {
        /// Behind this position: the `cursor` of the page before.
        case cursor(EventCursor)
        /// With the first event at or after a time.
        case time(Date)
        /// With whatever happens next.
        case now
    }

    /// Some events, and where to read on.
    package struct Page: Sendable, Equatable {
        package let events: [ServiceEvent]
        package let cursor: EventCursor
        /// Whether the next page can be read without waiting.
        package let hasMore: Bool

        package init(events: [ServiceEvent], cursor: EventCursor, hasMore: Bool) {
            self.events = events
            self.cursor = cursor
            self.hasMore = hasMore
        }

        /// The cursor of one of the events.
        package func cursor(of event: ServiceEvent) -> EventCursor {
            EventCursor(epoch: cursor.epoch, position: event.position)
        }
    }

    /// What someone who waits is told.
    enum News: Sendable {
        /// Everything of the app behind what the store had when the wait began.
        case events([ServiceEvent])
        /// Ask the store again.
        case look
    }

    private let store: any EventStore
    private let changes: ChangeSignal
    private let sleep: @Sendable (Duration) async throws -> Void
    private let waiting: EventReaders

    /// - Parameters:
    ///   - store: keeps the events.
    ///   - changes: told after each commit that kept events.
    ///   - sleep: waits by a monotonic clock; throws when the task is cancelled.
    package init(
        store: any EventStore, changes: ChangeSignal,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await ContinuousClock().sleep(for: $0) }
    ) {
        self.store = store
        self.changes = changes
        self.sleep = sleep
        waiting = EventReaders(maximum: Self.maximumWaiting)
    }

    /// How many readers wait at this moment.
    package var waitingCount: Int { waiting.count }

    /// A page of an app's events; waits for the first one if there is none yet.
    ///
    /// - Parameters:
    ///   - app: whose.
    ///   - start: where to begin.
    ///   - limit: the most events, 1 to `maximumPageSize`.
    ///   - wait: how long to wait at most.
    /// - Returns: the page; without events when the wait was in vain.
    /// - Throws: `cursorExpired` when events behind the cursor are forgotten or the cursor is of the store before a restore,
    ///   `invalidRequest` for a cursor that was never given out, `storeUnavailable`.
    package func events(
        app: App, from start: Start, limit: Int, wait: Duration
    ) async throws(ServiceError) -> Page {
        let position = try await cursor(of: start)
        guard wait > .zero, let reader = waiting.add(app: app.slug) else {
            return try await read(app, position, limit)
        }
        defer { waiting.remove(reader) }
        // The reader is known before the store is asked: what comes later reaches it.
        let first = try await read(app, position, limit)
        guard first.events.isEmpty else { return first }
        return try await page(for: reader, app, behind: position, limit, within: wait) ?? first
    }

    /// Tells those who wait, after each commit; ends when its task is cancelled, and then nobody waits any more.
    package func run() async {
        defer { waiting.close() }
        var told: Int64?
        // While nobody waits, a commit need not wake this task; whoever waits next has asked the store itself.
        for await _ in changes.signals(while: { [waiting] in waiting.isOwed }) {
            if waiting.takeUntold() { told = nil }
            // A store that fails keeps everybody waiting; the next look finds what was missed.
            while !Task.isCancelled {
                do throws(ServiceError) {
                    told = try await tell(behind: told)
                    break
                } catch {
                    told = nil
                    guard (try? await sleep(.seconds(1))) != nil else { return }
                }
            }
        }
    }

    /// Hands everything behind a position to those who wait.
    ///
    /// - Returns: the position up to which they have been told; nil when nobody waits, so that nobody is owed anything.
    /// - Throws: `storeUnavailable`.
    private func tell(behind position: Int64?) async throws(ServiceError) -> Int64? {
        guard waiting.count > 0 else { return nil }
        guard var told = position else {
            let latest = try await store.eventBounds().latest
            waiting.tellAll(.look)
            return latest
        }
        while true {
            let events = try await store.events(after: told, limit: Self.maximumPageSize)
            guard let last = events.last else { return told }
            for (app, events) in Dictionary(grouping: events, by: \.app) {
                waiting.tell(app, .events(events.sorted { $0.position < $1.position }))
            }
            told = last.position
        }
    }

    /// The first page that is not empty; nil when the wait was in vain.
    private func page(
        for reader: EventReaders.Reader, _ app: App, behind position: EventCursor, _ limit: Int, within wait: Duration
    ) async throws(ServiceError) -> Page? {
        let result = await withTaskGroup(of: Void.self) { group -> Result<Page?, ServiceError> in
            group.addTask { [sleep] in
                try? await sleep(wait)
                reader.end()
            }
            defer { group.cancelAll() }
            for await news in reader.news {
                do throws(ServiceError) {
                    let page = try await self.page(of: news, app, behind: position, limit)
                    if !page.events.isEmpty { return .success(page) }
                } catch {
                    return .failure(error)
                }
            }
            return .success(nil)
        }
        return try result.get()
    }

    private func page(
        of news: News, _ app: App, behind cursor: EventCursor, _ limit: Int
    ) async throws(ServiceError) -> Page {
        guard case .events(let events) = news else { return try await read(app, cursor, limit) }
        // The wait may have begun behind some of them.
        let new = events.filter { $0.position > cursor.position }
        let page = new.prefix(limit)
        return Page(events: Array(page), cursor: cursor.moved(to: page.last), hasMore: page.count < new.count)
    }

    private func read(_ app: App, _ cursor: EventCursor, _ limit: Int) async throws(ServiceError) -> Page {
        let limit = min(max(limit, 1), Self.maximumPageSize)
        var events = try await store.events(app: app.slug, after: cursor.position, limit: limit + 1)
        let hasMore = events.count > limit
        if hasMore { events.removeLast() }
        return Page(events: events, cursor: cursor.moved(to: events.last), hasMore: hasMore)
    }

    /// The cursor of this store to begin with.
    ///
    /// - Throws: `cursorExpired`, `invalidRequest`, `storeUnavailable`, as above.
    func cursor(of start: Start) async throws(ServiceError) -> EventCursor {
        let bounds = try await store.eventBounds()
        let position: Int64
        switch start {
        case .now: position = bounds.latest
        case .time(let date): position = try await store.eventPosition(before: date)
        case .cursor(let cursor): position = try Self.position(of: cursor, bounds)
        }
        return EventCursor(epoch: bounds.epoch, position: position)
    }

    private static func position(
        of cursor: EventCursor, _ bounds: EventBounds
    ) throws(ServiceError) -> Int64 {
        let isOfThisStore =
            cursor.epoch.map { $0 == bounds.epoch } ?? (cursor.position <= bounds.latestWithoutEpoch)
        guard isOfThisStore else {
            throw ServiceError(
                .cursorExpired,
                "This cursor is of the store before it was restored from a backup, and events have other places now; begin again with a time before that, and look at the lists for what was missed."
            )
        }
        guard cursor.position >= bounds.forgotten else {
            throw ServiceError(
                .cursorExpired,
                "Events behind this cursor are no longer kept; begin again with a time, and look at the lists for what was missed."
            )
        }
        guard cursor.position <= bounds.latest else {
            throw .invalid([
                Violation(
                    field: "after", rule: "unknownCursor",
                    message: "`after` must be a cursor of an earlier answer of this installation.")
            ])
        }
        return cursor.position
    }
}

extension EventCursor {
    /// The cursor behind an event, or the same where there is none.
    fileprivate func moved(to event: ServiceEvent?) -> EventCursor {
        event.map { EventCursor(epoch: epoch, position: $0.position) } ?? self
    }
}

/// Those who wait for events, by app.
final class EventReaders: Sendable {
    /// One who waits.
    struct Reader: Sendable {
        let app: String
        let number: Int
        /// What it is told, without a bound: it listens for as long as it is known.
        let news: AsyncStream<EventFeed.News>
        fileprivate let continuation: AsyncStream<EventFeed.News>.Continuation

        /// Ends the wait.
        func end() { continuation.finish() }
    }

    private struct State {
        var next = 0
        var count = 0
        var isClosed = false
        /// Whether there were events while nobody waited.
        var isUntold = false
        var byApp: [String: [Int: AsyncStream<EventFeed.News>.Continuation]] = [:]
    }

    private let maximum: Int
    private let state = Mutex(State())

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { state.withLock(\.count) }

    /// Whether anybody waits for events that there are now; if not, they are told to nobody.
    var isOwed: Bool {
        state.withLock { state in
            if state.count == 0 { state.isUntold = true }
            return state.count > 0
        }
    }

    /// Whether there were events, since this was last asked, that nobody was told of.
    func takeUntold() -> Bool {
        state.withLock { state in
            defer { state.isUntold = false }
            return state.isUntold
        }
    }

    /// Takes another one in; nil when too many wait, and once it is closed.
    func add(app: String) -> Reader? {
        let (news, continuation) = AsyncStream.makeStream(of: EventFeed.News.self)
        let number: Int? = state.withLock { state in
            guard !state.isClosed, state.count < maximum else { return nil }
            state.next += 1
            state.count += 1
            state.byApp[app, default: [:]][state.next] = continuation
            return state.next
        }
        return number.map { Reader(app: app, number: $0, news: news, continuation: continuation) }
    }

    func remove(_ reader: Reader) {
        state.withLock { state in
            guard state.byApp[reader.app]?.removeValue(forKey: reader.number) != nil else { return }
            state.count -= 1
            if state.byApp[reader.app]?.isEmpty == true { state.byApp[reader.app] = nil }
        }
    }

    /// Ends the wait of all, and of everyone who comes later.
    func close() {
        let continuations = state.withLock { state in
            state.isClosed = true
            return state.byApp.values.flatMap(\.values)
        }
        for continuation in continuations { continuation.finish() }
    }

    /// Tells all who wait for an app.
    func tell(_ app: String, _ news: EventFeed.News) {
        for continuation in state.withLock({ Array($0.byApp[app, default: [:]].values) }) { continuation.yield(news) }
    }

    /// Tells all.
    func tellAll(_ news: EventFeed.News) {
        for continuation in state.withLock({ $0.byApp.values.flatMap(\.values) }) { continuation.yield(news) }
    }
}
