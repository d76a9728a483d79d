import Dispatch
package import Domain
import GRDB
import Synchronization

/// Folds the write-ahead log into the file and empties it, for those who wait that nothing of what they removed is left there.
///
/// Those who ask at the same time share one: whoever asks waits for the next that begins after it asked.
final class LogTruncation: Sendable {
    private struct State {
        var isWorking = false
        var waiting: [CheckedContinuation<Result<Void, ServiceError>, Never>] = []
    }

    private let pool: DatabasePool
    private let state = Mutex(State())
    /// Not a thread of the cooperative pool: it waits for readers and the disk.
    private let queue = DispatchQueue(label: "purser.store.truncation")

    init(pool: DatabasePool) { self.pool = pool }

    /// Empties the log of everything that was committed before this was called.
    ///
    /// - Throws: `storeUnavailable`, as while another program reads the file.
    func run() async throws(ServiceError) {
        let result = await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(continuation)
                defer { state.isWorking = true }
                return !state.isWorking
            }
            if isFirst { queue.async { self.work() } }
        }
        try result.get()
    }

    private func work() {
        while true {
            let waiting = state.withLock { state in
                if state.waiting.isEmpty { state.isWorking = false }
                defer { state.waiting = [] }
                return state.waiting
            }
            guard !waiting.isEmpty else { return }
            let result = truncate()
            for continuation in waiting { continuation.resume(returning: result) }
        }
    }

    private func truncate() -> Result<Void, ServiceError> {
        do {
            _ = try pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
            return .success(())
        } catch {
            return .failure(StoreFailure.serviceError(error, doing: "empty the log of what was removed"))
        }
    }
}

extension SQLiteStore {
    package func overwriteRemoved() async throws(ServiceError) { try await truncation.run() }
}
