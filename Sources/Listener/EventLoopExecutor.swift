import NIOCore
import Synchronization

/// Runs tasks on an event loop, so that a request stays on the thread of its connection.
///
/// A task that prefers it comes back to the event loop after each wait, and runs beside no other of the same loop; so do its
/// child tasks and the actors that it calls.
final class EventLoopExecutor: TaskExecutor {
    /// The longest body of a request that is worked on by the event loop, in bytes.
    ///
    /// The work on a request grows with its body, and the event loop serves no other connection meanwhile.
    static let maximumBodyBytes = 32 << 10

    private let turns: EventLoopTurns.Turn
    private let longRequests: LongRequestExecutor
    private let limiter: RequestLimiter

    /// `limiter`: told how long what comes from elsewhere, such as Apple's answers, waits for the event loop.
    init(_ turns: EventLoopTurns, _ eventLoop: any EventLoop, _ limiter: RequestLimiter) {
        self.turns = turns[eventLoop]
        longRequests = turns.longRequests
        self.limiter = limiter
    }

    /// Runs the work on a request with a body of so many bytes.
    func executor(ofBodyBytes count: Int) -> any TaskExecutor { count > Self.maximumBodyBytes ? longRequests : self }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // What the event loop asks of itself tells nothing about how long others wait.
        let arrival = turns.eventLoop.inEventLoop ? nil : limiter.now()
        turns.add(EventLoopTurns.Job(job: job, executor: self, arrival: arrival))
    }

    fileprivate func run(_ job: EventLoopTurns.Job) {
        if let arrival = job.arrival { limiter.noteWait(since: arrival) }
        job.job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// Shares the time of event loops out between what was begun and their sockets; one for all listeners of a group.
///
/// An event loop of NIO looks at its sockets when nothing is left to do that it was asked to do at once. Answers that keep coming
/// would keep it from reading the next requests: all connections would go in step, and wait in step.
package final class EventLoopTurns: Sendable {
    /// For how long jobs are run before the next look at the sockets, and the longest pause for it.
    static let turn = TimeAmount.microseconds(500)
    /// How long the event loop waits for its sockets when there is more to do, at least.
    private static let shortestPause = TimeAmount.microseconds(10)
    /// How many times as long it waits as it takes from one task to the next.
    private static let pauseInTasks: Int64 = 8

    struct Job: Sendable {
        let job: UnownedJob
        let executor: EventLoopExecutor
        /// When it came from elsewhere.
        let arrival: NIODeadline?
    }

    /// The jobs of one event loop.
    final class Turn: Sendable {
        private struct State {
            var waiting = CircularBuffer<Job>()
            /// Whether the event loop has been asked to come back.
            var isAsked = false
        }

        let eventLoop: any EventLoop
        private let state = Mutex(State())

        init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

        func add(_ job: Job) {
            let mustAsk = state.withLock { state in
                state.waiting.append(job)
                defer { state.isAsked = true }
                return !state.isAsked
            }
            if mustAsk { eventLoop.execute { self.take() } }
        }

        private func take() {
            let end = eventLoop.now + EventLoopTurns.turn
            while let job = next() {
                job.executor.run(job)
                if eventLoop.now >= end { return comeBack() }
            }
        }

        /// Goes on after a look at the sockets.
        ///
        /// The event loop makes none while a task is due. How long it takes to find out whether one is differs by more than a hundred
        /// times, by processor and by build; so that is measured each time.
        private func comeBack() {
            let asked = eventLoop.now
            eventLoop.execute {
                let pause = (self.eventLoop.now - asked) * EventLoopTurns.pauseInTasks
                let bounded = min(max(pause, EventLoopTurns.shortestPause), EventLoopTurns.turn)
                self.eventLoop.scheduleTask(in: bounded) { self.take() }
            }
        }

        private func next() -> Job? {
            state.withLock { state in
                let job = state.waiting.popFirst()
                if job == nil { state.isAsked = false }
                return job
            }
        }
    }

    /// Runs the requests that would take too long a turn.
    let longRequests = LongRequestExecutor()
    private let turns = Mutex<[ObjectIdentifier: Turn]>([:])

    package init() {}

    /// The jobs of an event loop.
    subscript(eventLoop: any EventLoop) -> Turn {
        turns.withLock { turns in
            if let turn = turns[ObjectIdentifier(eventLoop)] { return turn }
            let turn = Turn(eventLoop)
            turns[ObjectIdentifier(eventLoop)] = turn
            return turn
        }
    }
}
