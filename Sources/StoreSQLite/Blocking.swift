import Dispatch

/// Work that waits for the disk.
enum Blocking {
    /// Runs the work on a thread of its own, so that no thread of the cooperative pool waits.
    ///
    /// Not on a global queue: on Linux those share their threads with the cooperative pool.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "purser.store.blocking").async { continuation.resume(returning: work()) }
        }
    }
}
