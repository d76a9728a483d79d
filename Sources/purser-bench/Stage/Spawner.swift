import Dispatch
import Foundation
import Synchronization

/// The thread that starts programs, as long as this process lives.
///
/// It has to be the same one and to stay: the kernel ends a program with the thread that started it
/// (PR_SET_PDEATHSIG, prctl(2)), and threads of the pools come and go. It blocks no signals, which those threads do and
/// programs would inherit.
final class Spawner: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let pending = DispatchSemaphore(value: 0)

    init() {
        Thread { [self] in
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(Int32(SIG_SETMASK), &none, nil)
            while true {
                pending.wait()
                let next = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                next?()
            }
        }.start()
    }

    /// Runs something on the thread.
    ///
    /// - Returns: what it returns.
    /// - Throws: what it throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            work.withLock { $0.append { continuation.resume(with: Result(catching: body)) } }
            pending.signal()
        }
    }
}
