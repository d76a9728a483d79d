import Dispatch
import Foundation
import Synchronization

/// A bounded number of connections, each on a thread of its own, which take turns at the work that is given to them.
///
/// libpq's calls wait, and so may only these threads make them: callers are suspended. A connection is made when work first
/// needs it. One that the server has ended is noticed before the next work and made anew; work whose connection ends under it
/// fails, and is not repeated, since nobody knows how far it came.
package final class PostgresPool: Sendable {
    /// Work of one turn: is lent a connection, or told why there is none.
    package typealias Job = @Sendable (Result<PostgresConnection, PostgresError>) -> Void

    private let queue: JobQueue
    private let ends: [ThreadEnd]

    /// Starts the threads; connects nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: the server and the database.
    ///   - size: how many connections there are at most.
    ///   - maximumWaiting: how much work may wait; beyond that it is refused.
    ///   - name: what the threads are called in lists of the system, in fifteen characters.
    package init(
        _ configuration: PostgresConfiguration, size: Int, maximumWaiting: Int = 4096, name: String = "postgres"
    ) {
        let (queue, outcome) = (JobQueue(maximumWaiting: maximumWaiting), ConnectOutcome())
        self.queue = queue
        ends = (0..<max(1, size)).map { _ in
            let end = ThreadEnd()
            let thread = Thread {
                PoolWorker(configuration, queue, outcome).run()
                end.come()
            }
            thread.start()
            // After the start, else it does not reach the kernel.
            thread.name = name
            return end
        }
    }

    deinit { _ = queue.close(threads: ends.count) }

    /// How much work waits for a connection.
    package var waitingCount: Int { queue.count }

    /// Gives work that tells by itself how it ended; it runs on a connection's thread.
    ///
    /// It must leave the connection outside of any transaction; what it leaves open is undone.
    package func submit(_ job: @escaping Job) {
        if let refusal = queue.add(job) { job(.failure(refusal)) }
    }

    /// Lends a connection.
    ///
    /// - Returns: what the body returns.
    /// - Throws: ``PostgresError`` when there is no connection, or what the body throws.
    package func withConnection<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            submit { connection in continuation.resume(with: Result { try body(connection.get()) }) }
        }
    }

    /// Ends the threads and their connections once the work that they are at is done; what waits fails.
    package func shutdown() async {
        for job in queue.close(threads: ends.count) { job(.failure(JobQueue.shutDown)) }
        for end in ends { await end.value() }
    }
}

/// The work that waits for a thread.
private final class JobQueue: Sendable {
    private struct State {
        var jobs: [PostgresPool.Job] = []
        /// Those before it in `jobs` have been taken.
        var next = 0
        var isClosed = false
    }

    static let shutDown = PostgresError(.shutDown, "the connections have been shut down", during: "wait")

    private let maximumWaiting: Int
    private let state = Mutex(State())
    /// Counts the jobs, and at the end the threads.
    private let available = DispatchSemaphore(value: 0)

    init(maximumWaiting: Int) { self.maximumWaiting = maximumWaiting }

    var count: Int { state.withLock { $0.jobs.count - $0.next } }

    /// - Returns: why the job is not taken.
    func add(_ job: @escaping PostgresPool.Job) -> PostgresError? {
        let refusal = state.withLock { state -> PostgresError? in
            if state.isClosed { return Self.shutDown }
            guard state.jobs.count - state.next < maximumWaiting else {
                return PostgresError(.tooManyWaiting, "too much waits for a connection", during: "wait")
            }
            state.jobs.append(job)
            return nil
        }
        if refusal == nil { available.signal() }
        return refusal
    }

    /// Waits for the next job; nil at the end.
    func take() -> PostgresPool.Job? {
        available.wait()
        return state.withLock { state in
            guard state.next < state.jobs.count else { return nil }
            defer {
                state.next += 1
                if state.next == state.jobs.count || state.next > 1024 {
                    state.jobs.removeFirst(state.next)
                    state.next = 0
                }
            }
            return state.jobs[state.next]
        }
    }

    /// Takes in nothing more, and lets the threads end.
    ///
    /// - Returns: what nobody will do.
    func close(threads: Int) -> [PostgresPool.Job] {
        let left = state.withLock { state -> [PostgresPool.Job]? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            defer { (state.jobs, state.next) = ([], 0) }
            return Array(state.jobs[state.next...])
        }
        guard let left else { return [] }
        for _ in 0..<threads { available.signal() }
        return left
    }
}

/// One thread's turns; it alone holds its connection.
private final class PoolWorker {
    /// After a connection could not be made nobody tries again for so long: who comes meanwhile is told the same at once.
    private static let pause = Duration.milliseconds(250)

    private let configuration: PostgresConfiguration
    private let queue: JobQueue
    private let outcome: ConnectOutcome
    private var connection: PostgresConnection?

    init(_ configuration: PostgresConfiguration, _ queue: JobQueue, _ outcome: ConnectOutcome) {
        self.configuration = configuration
        self.queue = queue
        self.outcome = outcome
    }

    func run() {
        while let job = queue.take() {
            do throws(PostgresError) {
                let connection = try usableConnection()
                job(.success(connection))
                if connection.isUsable, connection.isInsideTransaction { try connection.run(script: "ROLLBACK") }
                if !connection.isUsable { self.connection = nil }
            } catch {
                if connection == nil { job(.failure(error)) } else { connection = nil }
            }
        }
        connection = nil
    }

    private func usableConnection() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isStillOpen() { return connection }
        connection = nil
        if let failure = outcome.recentFailure { throw failure }
        do throws(PostgresError) {
            let new = try PostgresConnection(configuration)
            outcome.note(nil)
            connection = new
            return new
        } catch {
            outcome.note((error, .now + Self.pause))
            throw error
        }
    }
}

/// How the last attempt to connect went, of all threads of a pool.
private final class ConnectOutcome: Sendable {
    typealias Failure = (error: PostgresError, until: ContinuousClock.Instant)

    private let failure = Mutex<Failure?>(nil)

    func note(_ new: Failure?) { failure.withLock { $0 = new } }

    /// The last failure, as long as nobody is to try again.
    var recentFailure: PostgresError? { failure.withLock { $0.flatMap { $0.until > .now ? $0.error : nil } } }
}

/// Tells who waits that a thread has ended.
final class ThreadEnd: Sendable {
    private struct State {
        var hasCome = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func come() {
        let waiting = state.withLock { state in
            state.hasCome = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func value() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasCome { state.waiting.append(continuation) }
                return state.hasCome
            }
            if isOver { continuation.resume() }
        }
    }
}
