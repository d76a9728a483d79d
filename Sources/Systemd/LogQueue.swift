import Dispatch
import Synchronization

/// Stands between those who log and where the log goes: a pipe or a journal that nobody reads holds up none of them.
///
/// Entries are written in their order on a queue of their own. What does not fit is dropped and counted; the count is told
/// as soon as something can be written again.
final class LogQueue: Sendable {
    /// How many bytes of entries may wait: minutes of an ordinary log, and a bound for one that nobody reads.
    static let capacity = 4 << 20

    /// What an entry takes in memory besides its text, about.
    private static let overhead = 128

    private struct State {
        var entries: [(bytes: Int, write: @Sendable () -> Void)] = []
        /// Of those that wait and of those that are being written.
        var bytes = 0
        var dropped = 0
        var isScheduled = false
    }

    private let capacity: Int
    private let tellDropped: @Sendable (Int) -> Void
    private let state = Mutex(State())
    private let total = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "purser.log")

    /// - Parameters:
    ///   - capacity: how many bytes may wait.
    ///   - tellDropped: writes to the log, at once, that so many entries are missing.
    init(capacity: Int = LogQueue.capacity, tellDropped: @escaping @Sendable (Int) -> Void) {
        self.capacity = capacity
        self.tellDropped = tellDropped
    }

    /// How many entries were dropped since the start.
    var droppedEntries: Int { total.load(ordering: .relaxed) }

    /// Takes an entry, or drops it; never waits.
    ///
    /// - Parameters:
    ///   - count: the bytes of the entry.
    ///   - write: writes it; it may block.
    func add(bytes count: Int, write: @escaping @Sendable () -> Void) {
        let cost = count + Self.overhead
        let (isDropped, isFirst) = state.withLock { state in
            guard state.bytes + cost <= capacity else {
                state.dropped += 1
                return (true, false)
            }
            state.entries.append((cost, write))
            state.bytes += cost
            defer { state.isScheduled = true }
            return (false, !state.isScheduled)
        }
        if isDropped { total.add(1, ordering: .relaxed) }
        if isFirst { queue.async { self.drain() } }
    }

    /// Waits until everything that was added before is written, but no longer than the limit.
    func flush(within limit: DispatchTimeInterval) async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        queue.async { continuation.finish() }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { continuation.finish() }
        for await _ in ends {}
    }

    private func drain() {
        while true {
            let (entries, dropped) = state.withLock { state in
                let taken = (state.entries, state.dropped)
                (state.entries, state.dropped) = ([], 0)
                state.isScheduled = !taken.0.isEmpty || taken.1 > 0
                return taken
            }
            guard !entries.isEmpty || dropped > 0 else { return }
            for entry in entries {
                entry.write()
                state.withLock { $0.bytes -= entry.bytes }
            }
            // There was no room for them behind these.
            if dropped > 0 { tellDropped(dropped) }
        }
    }
}
