import Synchronization
package import Testing

/// Something to wait in front of, open at first.
package final class Gate: Sendable {
    private struct State {
        var isOpen = true
        var comers = 0
        var arrivals = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var observers: [(arrivals: Int, continuation: AsyncStream<Void>.Continuation)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How often somebody has come to the gate.
    package var arrivals: Int { state.withLock { $0.arrivals } }

    package func close() {
        state.withLock { $0.isOpen = false }
    }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        waiting.forEach { $0.resume() }
    }

    /// Returns when the gate is open or the task is cancelled.
    package func pass() async {
        let id = state.withLock { state in
            state.comers += 1
            return state.comers
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isWaiting, seen) = state.withLock { state in
                    if !state.isOpen && !Task.isCancelled { state.waiting[id] = continuation }
                    // Not before: whoever has seen somebody come to a closed gate finds them waiting.
                    state.arrivals += 1
                    let seen = state.observers.filter { $0.arrivals <= state.arrivals }
                    state.observers.removeAll { $0.arrivals <= state.arrivals }
                    return (state.waiting[id] != nil, seen)
                }
                if !isWaiting { continuation.resume() }
                seen.forEach { $0.continuation.finish() }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
            continuation?.resume()
        }
    }

    /// Returns once somebody has come to the gate so many times; in vain, it is an issue of the test.
    package func hasArrivals(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        let (seen, continuation) = AsyncStream.makeStream(of: Void.self)
        let isThere = state.withLock { state in
            if state.arrivals < count { state.observers.append((count, continuation)) }
            return state.arrivals >= count
        }
        if isThere { return }
        await Wait.reporting("arrival \(count) at a gate", sourceLocation) { for await _ in seen {} }
    }
}
