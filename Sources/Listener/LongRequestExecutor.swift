import NIOPosix
import Synchronization

/// Runs the tasks of requests with long bodies, on threads of its own.
///
/// The time that such a request takes grows with its body. On an event loop every connection of the loop would wait for it, and on
/// Swift's pool, which has one thread a core, the watchdog's pings and the handling of SIGTERM.
final class LongRequestExecutor: TaskExecutor {
    private static let threadCount = 2

    /// Nil until the first long request.
    private let pool = Mutex<NIOThreadPool?>(nil)

    deinit {
        pool.withLock { pool in pool?.shutdownGracefully { _ in } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        started().submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    private func started() -> NIOThreadPool {
        pool.withLock { pool in
            if let pool { return pool }
            let started = NIOThreadPool(numberOfThreads: Self.threadCount)
            started.start()
            pool = started
            return started
        }
    }
}
