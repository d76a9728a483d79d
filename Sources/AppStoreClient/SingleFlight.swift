import Domain
import Synchronization

/// Work that those who want the same at the same time wait for together.
///
/// The first to come starts it, in a task of its own; the others join. Whoever is cancelled or out of time leaves without
/// harm to the rest; when the last has left, the work is cancelled. Bound: so many works at a time, and so many waiters
/// each; whoever finds no room works alone.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Does the work, until the deadline at the latest, which moves when somebody with more time joins.
    typealias Work = @Sendable (CallDeadline) async -> Value

    private enum Ending: Sendable {
        case value(Value)
        case left
        case noRoom
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Ending, Never>
        let deadline: ContinuousClock.Instant
        /// Makes the waiter leave in time; nil for the one with most time, whom the work's own deadline serves.
        var timer: Task<Void, Never>?
    }

    private struct Flight {
        let id: UInt64
        let deadline: CallDeadline
        /// Nil only until whoever has started the work has noted it here.
        var task: Task<Void, Never>?
        var waiters: [UInt64: Waiter]
        /// The waiter with most time.
        var last: UInt64
    }

    private let maximumFlights: Int
    private let maximumWaiters: Int
    private let clock: ServiceClock
    private let flights = Mutex<[Key: Flight]>([:])
    private let nextID = Atomic<UInt64>(0)

    init(maximumFlights: Int = 4096, maximumWaiters: Int = 1024, clock: ServiceClock) {
        self.maximumFlights = maximumFlights
        self.maximumWaiters = maximumWaiters
        self.clock = clock
    }

    /// How many wait for the work under this key.
    func waiterCount(_ key: Key) -> Int { flights.withLock { $0[key]?.waiters.count ?? 0 } }

    /// Joins the work under way under this key, or starts it.
    ///
    /// - Returns: what came of it; nil when the task was cancelled or the deadline passed before.
    func share(_ key: Key, until deadline: ContinuousClock.Instant, _ work: @escaping Work) async -> Value? {
        let id = nextID.add(1, ordering: .relaxed).newValue
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                switch join(key, id, Waiter(continuation: continuation, deadline: deadline)) {
                case .joined: break
                case .first(let deadline): start(key, id, deadline, work)
                case .noRoom: continuation.resume(returning: .noRoom)
                }
                // A cancellation that came before the line above found nobody to leave.
                if Task.isCancelled { leave(key, id) }
            }
        } onCancel: {
            leave(key, id)
        }
        switch ending {
        case .value(let value): return value
        case .left: return nil
        case .noRoom: return await work(CallDeadline(deadline))
        }
    }

    /// What has become of somebody who came.
    private enum Joining {
        /// It waits with the others.
        case joined
        /// It waits, and is the one to start the work.
        case first(CallDeadline)
        case noRoom
    }

    private func join(_ key: Key, _ id: UInt64, _ waiter: Waiter) -> Joining {
        flights.withLock { flights in
            guard var flight = flights[key] else {
                guard flights.count < maximumFlights else { return .noRoom }
                let deadline = CallDeadline(waiter.deadline)
                flights[key] = Flight(id: id, deadline: deadline, waiters: [id: waiter], last: id)
                return .first(deadline)
            }
            guard flight.waiters.count < maximumWaiters else { return .noRoom }
            flight.waiters[id] = waiter
            let isLast = waiter.deadline > flight.deadline.instant
            let early = isLast ? flight.last : id
            if let deadline = flight.waiters[early]?.deadline {
                flight.waiters[early]?.timer = timer(key, early, deadline)
            }
            if isLast {
                flight.last = id
                flight.deadline.extend(to: waiter.deadline)
            }
            flights[key] = flight
            return .joined
        }
    }

    /// Starts the work on this thread, which most of it never leaves before it waits for the network.
    private func start(_ key: Key, _ id: UInt64, _ deadline: CallDeadline, _ work: @escaping Work) {
        // On the event loop of whoever asks, if it is on one; the task of whoever asks keeps the executor.
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: executor) { finish(key, id, await work(deadline)) }
        let isWanted = flights.withLock { flights in
            guard flights[key]?.id == id else { return false }
            flights[key]?.task = task
            return true
        }
        // It has ended already, or everybody has left.
        if !isWanted { task.cancel() }
    }

    private func timer(_ key: Key, _ id: UInt64, _ deadline: ContinuousClock.Instant) -> Task<Void, Never> {
        Task { [clock] in
            guard (try? await clock.sleep(max(.zero, clock.remaining(until: deadline)))) != nil else { return }
            leave(key, id)
        }
    }

    private func leave(_ key: Key, _ id: UInt64) {
        let (waiter, abandoned) = flights.withLock { flights -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard let flight = flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            flights[key] = nil
            return (waiter, flight.task)
        }
        abandoned?.cancel()
        waiter?.timer?.cancel()
        waiter?.continuation.resume(returning: .left)
    }

    private func finish(_ key: Key, _ id: UInt64, _ value: Value) {
        let flight = flights.withLock { flights -> Flight? in
            guard let flight = flights[key], flight.id == id else { return nil }
            flights[key] = nil
            return flight
        }
        for waiter in flight?.waiters.values ?? [:].values {
            waiter.timer?.cancel()
            waiter.continuation.resume(returning: .value(value))
        }
    }
}
