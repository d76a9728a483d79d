import Synchronization

/// Something to wait in front of, open at first.
package final class Gate: Sendable {
    private struct State {
        var isOpen = true
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var observers: [(arrivals: Int, continuation: CheckedContinuation<Void, Never>)] = []
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
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Returns when the gate is open, whether or not the task was cancelled.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let seen = state.observers.filter { $0.arrivals <= state.arrivals }.map(\.continuation)
                state.observers.removeAll { $0.arrivals <= state.arrivals }
                return seen + (state.isOpen ? [continuation] : [])
            }
            ready.forEach { $0.resume() }
        }
    }

    /// Returns once somebody has come to the gate so many times.
    package func hasArrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isSeen = state.withLock { state in
                if state.arrivals < count { state.observers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isSeen { continuation.resume() }
        }
    }
}
