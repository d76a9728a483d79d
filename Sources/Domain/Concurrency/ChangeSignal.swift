import Synchronization

/// Tells of every commit that kept events, so that whoever waits for them need not poll.
///
/// A signal carries nothing but that there is something: the reader asks the store. Several signals before a reader listens count
/// as one.
package final class ChangeSignal: Sendable {
    private struct Listener {
        let continuation: AsyncStream<Void>.Continuation
        let isNeeded: @Sendable () -> Bool
    }

    private let listeners = Mutex<(next: Int, waiting: [Int: Listener])>((0, [:]))

    package init() {}

    /// Tells everyone who listens.
    package func send() {
        for listener in listeners.withLock({ Array($0.waiting.values) }) where listener.isNeeded() {
            listener.continuation.yield()
        }
    }

    /// The signals from now on, the unheard ones taken together; ends with the task that listens.
    ///
    /// `isNeeded`: asked by whoever sends; where it says no, the listener is not woken.
    package func signals(while isNeeded: @escaping @Sendable () -> Bool = { true }) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = listeners.withLock { state in
            state.next += 1
            state.waiting[state.next] = Listener(continuation: continuation, isNeeded: isNeeded)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.waiting.removeValue(forKey: number) }
        }
        return stream
    }
}

/// Lets a loop wait until there is work, or a time is over; for one loop at a time.
final class WakeSignal: Sendable {
    private struct State {
        /// Whether somebody called while nobody waited.
        var isOwed = false
        var waiting: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    /// Ends the present wait, or the next one if nobody waits; several calls may count as one.
    func wake() {
        let waiting = state.withLock { state in
            if state.waiting == nil { state.isOwed = true }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.finish()
    }

    /// Returns when somebody calls `wake`, when the time is over or when the task is cancelled.
    ///
    /// `duration`: the longest wait; nil for no bound.
    func wait(atMost duration: Duration?, by clock: ServiceClock) async {
        // One for each wait: a stream ends for good when the task that waits for it is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(0))
        let isOwed = state.withLock { state in
            defer { state.isOwed = false }
            if !state.isOwed { state.waiting = continuation }
            return state.isOwed
        }
        guard !isOwed else { return }
        await withTaskGroup(of: Void.self) { timer in
            if let duration {
                timer.addTask {
                    if (try? await clock.sleep(duration)) != nil { continuation.finish() }
                }
            }
            for await _ in stream {}
            timer.cancelAll()
        }
        state.withLock { $0.waiting = nil }
    }
}
