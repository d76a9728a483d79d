import Synchronization
package import Testing

/// A clock that stands still until a test moves it on.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: (deadline: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
        var observers: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                let observers = state.withLock { state in
                    state.sleepers[id] = (deadline, wake)
                    defer { state.observers = [] }
                    return state.observers
                }
                observers.forEach { $0.finish() }
                if Task.isCancelled { cancel(id) }
                advance(by: .zero)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Moves the clock on and wakes who has slept long enough.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        woken.forEach { $0.resume() }
    }

    /// Returns as soon as somebody sleeps; in vain, it is an issue of the test.
    package func sleeperHasArrived(sourceLocation: SourceLocation = #_sourceLocation) async {
        let (arrival, observer) = AsyncStream.makeStream(of: Void.self)
        let isThere = state.withLock { state in
            if state.sleepers.isEmpty { state.observers.append(observer) }
            return !state.sleepers.isEmpty
        }
        if isThere { return }
        await Wait.reporting("somebody who sleeps", sourceLocation) { for await _ in arrival {} }
    }

    /// How many sleep no longer than so from now.
    package func sleeperCount(within duration: Duration) -> Int {
        state.withLock { state in
            let end = state.now.advanced(by: duration)
            return state.sleepers.values.count { $0.deadline <= end }
        }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
        sleeper?.wake.resume(throwing: CancellationError())
    }
}
