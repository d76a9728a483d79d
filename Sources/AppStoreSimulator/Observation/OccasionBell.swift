import Synchronization

/// Tells whoever waits that something has happened; several occasions that were not heard yet count as one.
final class OccasionBell: Sendable {
    private struct Listener {
        let occasion: Occasion
        let continuation: AsyncStream<Void>.Continuation
    }

    private let listeners = Mutex<(last: Int, all: [Int: Listener])>((0, [:]))

    func ring(_ occasion: Occasion) {
        let hearing = listeners.withLock { $0.all.values.filter { $0.occasion == occasion } }
        for listener in hearing { listener.continuation.yield() }
    }

    /// The occasions from now on; ends with the task that listens.
    func occasions(_ occasion: Occasion) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = listeners.withLock { state in
            state.last += 1
            state.all[state.last] = Listener(occasion: occasion, continuation: continuation)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0.all[number] = nil } }
        return stream
    }
}
