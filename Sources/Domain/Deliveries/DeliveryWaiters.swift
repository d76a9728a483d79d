import Synchronization

/// Tells those who wait for a delivery what became of it.
///
/// A convenience, not the truth: what another copy of the daemon has ended is told here by ``CopyExchange``, and may not be, so
/// whoever waits asks the store in the end.
package final class DeliveryWaiters: Sendable {
    /// One who waits; to be handed back.
    struct Watch: Sendable {
        let id: String
        fileprivate let number: Int
        fileprivate let outcomes: AsyncStream<Delivery>
        fileprivate let continuation: AsyncStream<Delivery>.Continuation
    }

    private struct State {
        var next = 0
        var watching: [String: [Int: AsyncStream<Delivery>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Tells of a delivery whose state is final; does nothing for any other.
    package func post(_ delivery: Delivery) {
        guard delivery.state.isFinal else { return }
        let continuations = state.withLock { Array($0.watching[delivery.id, default: [:]].values) }
        for continuation in continuations { continuation.yield(delivery) }
    }

    /// The deliveries that somebody waits for.
    var watched: Set<String> { state.withLock { Set($0.watching.keys) } }

    /// Begins to watch for the end of a delivery, which need not exist yet.
    func watch(_ id: String) -> Watch {
        let (outcomes, continuation) = AsyncStream.makeStream(of: Delivery.self, bufferingPolicy: .bufferingOldest(1))
        let number = state.withLock { state in
            state.next += 1
            state.watching[id, default: [:]][state.next] = continuation
            return state.next
        }
        return Watch(id: id, number: number, outcomes: outcomes, continuation: continuation)
    }

    /// Forgets one who waits.
    func remove(_ watch: Watch) {
        state.withLock { state in
            state.watching[watch.id]?[watch.number] = nil
            if state.watching[watch.id]?.isEmpty == true { state.watching[watch.id] = nil }
        }
        watch.continuation.finish()
    }

    /// What the watched delivery came to; nil when the wait was in vain or the task is cancelled.
    func outcome(_ watch: Watch, within wait: Duration, by clock: ServiceClock) async -> Delivery? {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await clock.sleep(wait)
                watch.continuation.finish()
            }
            defer { group.cancelAll() }
            for await delivery in watch.outcomes { return delivery }
            return nil
        }
    }
}

/// The place of a request among those that are worked on at once.
package protocol RequestSlot: Sendable {
    /// Says whose the request is, as soon as that is known.
    ///
    /// - Returns: whether it keeps its place; if not, because its caller holds more than its share, it is to be shed.
    func belongs(to caller: String, showing authorization: String?) -> Bool

    /// Lets the place go while the request waits for something that may take a minute or never come.
    func beginIdling()

    /// Takes the place again.
    func endIdling()
}
