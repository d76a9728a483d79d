/// Whose history is searched next, in one round of an environment: first everybody's consumption requests, then the rest.
///
/// Who has to wait, waits here and takes nobody's place.
struct HistoryQueue: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What has a deadline, and everything else.
    enum Part: Sendable {
        case requests
        case rest
    }

    /// A part of an app's search.
    struct Item: Sendable {
        /// Which app, by its place in the list of apps.
        let app: Int
        let part: Part
        /// The last try; nil as long as there was none.
        ///
        /// Few of ten thousand have one.
        var attempt: Attempt?
    }

    /// A try that failed.
    final class Attempt: Sendable {
        /// How far it got.
        let search: AppHistorySearch
        /// How many were before it.
        let retries: Int
        let fault: ServiceError

        init(_ search: AppHistorySearch, retries: Int, _ fault: ServiceError) {
            self.search = search
            self.retries = retries
            self.fault = fault
        }
    }

    /// In the order in which they are to be taken; those before the index are gone.
    private struct Line {
        private var items: [Item] = []
        private var first = 0

        var isEmpty: Bool { first == items.count }
        var rest: ArraySlice<Item> { items[first...] }

        mutating func append(_ item: Item) { items.append(item) }

        mutating func removeFirst() -> Item? {
            guard first < items.count else { return nil }
            defer { first += 1 }
            return items[first]
        }
    }

    private var requests = Line()
    private var rest = Line()
    /// Those that wait for a time of their own, by that time.
    private var waiting: [(due: Instant, item: Item)] = []

    /// - Parameters:
    ///   - count: how many apps there are.
    ///   - leftOver: those whose rest the last round left undone; it comes before that of others.
    init(apps count: Int, leftOver: [Int]) {
        for app in 0..<count { requests.append(Item(app: app, part: .requests)) }
        for app in leftOver { rest.append(Item(app: app, part: .rest)) }
    }

    /// Adds an item behind those of its part.
    mutating func append(_ item: Item) {
        if item.part == .requests { requests.append(item) } else { rest.append(item) }
    }

    /// Adds an item that is not taken before a time.
    mutating func append(_ item: Item, notBefore due: Instant) {
        var (low, high) = (0, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].due > due { high = middle } else { low = middle + 1 }
        }
        waiting.insert((due, item), at: low)
    }

    /// The item that is to be taken now, if any.
    ///
    /// `isOver`: whether the round is: then only requests that do not wait are taken.
    mutating func next(at now: Instant, isOver: Bool) -> Item? {
        if !isOver, let item = due(.requests, at: now) { return item }
        if let item = requests.removeFirst() { return item }
        return isOver ? nil : due(.rest, at: now) ?? rest.removeFirst()
    }

    /// Whether nothing is left to be taken, now or later.
    func isEmpty(isOver: Bool) -> Bool { requests.isEmpty && (isOver || rest.isEmpty && waiting.isEmpty) }

    /// Whether something could be taken now.
    func isReady(isOver: Bool) -> Bool { !requests.isEmpty || !isOver && !rest.isEmpty }

    /// When the first of those is due that wait.
    var nextDue: Instant? { waiting.first?.due }

    /// What the round leaves undone.
    var left: [Item] { requests.rest + rest.rest + waiting.map(\.item) }

    private mutating func due(_ part: Part, at now: Instant) -> Item? {
        let ready = waiting.prefix { $0.due <= now }
        return ready.firstIndex { $0.item.part == part }.map { waiting.remove(at: $0).item }
    }
}

/// Whether searches fail for every app of an environment.
///
/// Then one at a time looks whether that is over, after longer and longer pauses; another one each time, as it might fail
/// for its own sake.
struct HistoryOutage: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How many must fail in a row.
    static let failures = 5
    static let firstPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(60)

    private var failures = 0
    private var pause = firstPause
    /// When the next one looks; nil as long as there is no outage.
    private(set) var until: Instant?

    /// How many searches may be under way.
    func slots(at now: Instant, of all: Int) -> Int {
        guard let until else { return all }
        return now < until ? 0 : 1
    }

    /// Takes note that Apple answered.
    ///
    /// - Returns: whether this ends an outage.
    mutating func succeeded() -> Bool {
        defer { self = HistoryOutage() }
        return until != nil
    }

    /// Takes note of a failure that may be everybody's.
    ///
    /// - Parameters:
    ///   - retryAfter: how long to wait at least, if that is known.
    ///   - now: what the monotonic clock says.
    /// - Returns: whether this begins an outage.
    mutating func failed(retryAfter: Duration?, at now: Instant) -> Bool {
        failures += 1
        if let until {
            // What was under way when it began tells nothing new.
            guard now >= until else { return false }
            pause = min(pause * 2, Self.longestPause)
        } else if failures < Self.failures {
            return false
        }
        let isFirst = until == nil
        until = now + min(max(pause, retryAfter ?? .zero), Self.longestPause)
        return isFirst
    }
}
