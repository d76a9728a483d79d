import Synchronization

/// A write that waits for its turn.
package struct PendingWrite: Sendable {
    /// Runs the operation; what it returns hands the value over, to be called once the transaction is committed.
    package let run: @Sendable (SQLDatabase) throws -> @Sendable () -> Void
    /// Tells that nothing was changed, and why.
    package let fail: @Sendable (any Error) -> Void

    package init(
        run: @escaping @Sendable (SQLDatabase) throws -> @Sendable () -> Void,
        fail: @escaping @Sendable (any Error) -> Void
    ) {
        self.run = run
        self.fail = fail
    }
}

/// Knows whether the store's executor is inside the database right now, and tells who waits for it when it next runs.
///
/// The executor is a serial queue, so it is inside at most once.
package final class ExecutorHeartbeat: Sendable {
    private struct State {
        var isInside = false
        /// Emptied by every run; a watchdog asks again only after an answer, so these are few.
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How many wait for the executor to run.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Marks work of the executor that may be held up by the disk or by another process's lock.
    package func inside<Value>(_ work: () throws -> Value) rethrows -> Value {
        ran(isInside: true)
        defer { state.withLock { $0.isInside = false } }
        return try work()
    }

    /// Says that the executor runs at this moment.
    package func ran(isInside: Bool = false) {
        let waiting = state.withLock { state in
            state.isInside = isInside
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// A stream without elements that ends when the executor runs; nil when it is inside the database already.
    package func nextRun() -> AsyncStream<Void>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(0))
        return state.withLock { state in
            guard !state.isInside else { return nil }
            state.waiting.append(continuation)
            return stream
        }
    }
}
