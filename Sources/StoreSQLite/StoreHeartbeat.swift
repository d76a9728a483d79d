import Domain
import GRDB
import Synchronization

// What `/healthz` and the watchdog ask of the store.

extension SQLiteStore {
    /// Whether a write succeeds now; the caller bounds the wait.
    package func isUsable() async -> Bool {
        do {
            try await write("probe") { database in
                try database.execute(sql: "UPDATE probe SET count = count + 1 WHERE id = 1")
            }
            return true
        } catch {
            return false
        }
    }

    /// Why nothing can be written, or read, at present; nil when it can, as far as has been tried.
    package var problem: String? { outage.cause ?? readOutage.cause }

    /// Takes note that a write does not come to an end, as on a disk that hangs.
    package func noteHang(_ patience: Duration) { outage.failed("a write takes longer than \(patience)") }

    /// Returns once the store's executor has just run, for the watchdog.
    ///
    /// An executor at work inside the database counts as well: there a slow or full disk may hold it up. Returns early when
    /// its task is cancelled.
    package func heartbeat() async {
        guard let nextRun = executorHeartbeat.nextRun() else { return }
        // A write that stands before this one in the queue counts as well: it tells the gauge before it enters the database.
        pool.asyncWriteWithoutTransaction { [executorHeartbeat] _ in executorHeartbeat.ran() }
        for await _ in nextRun {}
    }
}

/// Knows whether the store's executor is inside the database right now, and tells who waits for it when it next runs.
///
/// The executor is a serial queue, so it is inside at most once.
final class ExecutorHeartbeat: Sendable {
    private struct State {
        var isInside = false
        /// Emptied by every run; a watchdog asks again only after an answer, so these are few.
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    /// How many wait for the executor to run.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Marks work of the executor that may be held up by the disk or by another process's lock.
    func inside<Value>(_ work: () throws -> Value) rethrows -> Value {
        ran(isInside: true)
        defer { state.withLock { $0.isInside = false } }
        return try work()
    }

    /// Says that the executor runs at this moment.
    func ran(isInside: Bool = false) {
        let waiting = state.withLock { state in
            state.isInside = isInside
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// A stream without elements that ends when the executor runs; nil when it is inside the database already.
    func nextRun() -> AsyncStream<Void>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(0))
        return state.withLock { state in
            guard !state.isInside else { return nil }
            state.waiting.append(continuation)
            return stream
        }
    }
}
