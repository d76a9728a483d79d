import Synchronization

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
        var byApp: [String: [Int: AsyncStream<EventFeed.News>.Continuation]] = [:]
    }

    private let maximum: Int
    private let state = Mutex(State())

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { state.withLock(\.count) }

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
