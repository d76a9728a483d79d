import Dispatch

/// Work that waits for the disk.
package enum Blocking {
    /// Runs the work on a thread of its own, so that no thread of the cooperative pool waits.
    ///
    /// Not on a global queue: on Linux those share their threads with the cooperative pool.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "purser.blocking").async { continuation.resume(returning: work()) }
        }
    }
}

/// Acts that must happen one after the other, in the order in which they were asked for.
///
/// An act that has begun goes on to its end, even when nobody waits for it any more: who asked may have gone away.
package actor SerialActs {
    private var last: Task<Void, Never>?

    package init() {}

    /// Runs an act once those before it have ended.
    package func run<Value: Sendable>(
        _ act: @escaping @Sendable () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let before = last
        let task = Task { () -> Result<Value, ServiceError> in
            await before?.value
            do throws(ServiceError) {
                return .success(try await act())
            } catch {
                return .failure(error)
            }
        }
        last = Task { _ = await task.value }
        return try await task.value.get()
    }
}
