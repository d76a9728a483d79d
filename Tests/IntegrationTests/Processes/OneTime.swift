import Synchronization

/// A value that comes once, for whoever waits for it.
final class OneTime<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    /// Nil until it has come.
    var now: Value? { state.withLock { $0.value } }

    /// Gives the value; only the first counts.
    func give(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits for the value, however long.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Value? in
                if state.value == nil { state.waiting.append(continuation) }
                return state.value
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
