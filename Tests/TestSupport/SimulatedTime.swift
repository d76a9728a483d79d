import Foundation
import Synchronization

/// Time that passes only while nobody has anything to do: hours go by in moments, and in the same order each time.
///
/// It is the executor of whatever runs in it: one job at a time. When none is left, the next sleeper wakes.
package final class SimulatedTime: TaskExecutor {
    private struct Sleeper {
        let deadline: Duration
        let id: Int
        let wake: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var now = Duration.zero
        var lastID = 0
        /// By deadline and then by id, the first one last.
        var sleepers: [Sleeper] = []
        /// What is being done outside, such as in a real store: no time passes meanwhile.
        var outside = 0
        var end: (at: Duration, reached: @Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "simulated time")

    package init() {}

    /// How much time has passed.
    package var now: Duration { state.withLock { $0.now } }

    /// Does work, which is cancelled when so much time has passed.
    package func run(for limit: Duration, _ work: @escaping @Sendable () async -> Void) async {
        let task = Task(executorPreference: self) { await work() }
        state.withLock { $0.end = ($0.now + limit, { task.cancel() }) }
        proceed()
        await task.value
    }

    /// Lets so much time pass.
    package func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    let deadline = state.now + max(duration, .zero)
                    let index = state.sleepers.partitioningIndex { ($0.deadline, $0.id) < (deadline, id) }
                    state.sleepers.insert(Sleeper(deadline: deadline, id: id, wake: wake), at: index)
                }
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Does something on threads of its own, in no time.
    package func outside<Value, Failure>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        state.withLock { $0.outside += 1 }
        defer { state.withLock { $0.outside -= 1 } }
        return try await work()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        proceed()
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state in
            state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
        }
        sleeper?.wake.resume(throwing: CancellationError())
    }

    /// Lets the jobs run that are there, unless they do.
    private func proceed() {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            guard jobs.isEmpty else { continue }
            let next = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.jobs.isEmpty else { return {} }
                if state.outside == 0, let end = state.end {
                    if let sleeper = state.sleepers.last, sleeper.deadline <= end.at {
                        state.sleepers.removeLast()
                        state.now = max(state.now, sleeper.deadline)
                        return { sleeper.wake.resume() }
                    }
                    state.now = end.at
                    state.end = nil
                    return end.reached
                }
                state.isRunning = false
                return nil
            }
            guard let next else { return }
            next()
        }
    }
}

extension Array {
    /// The first place whose element, and each one behind it, is as described.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
