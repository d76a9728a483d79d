import Synchronization

/// A value that comes once, for whoever waits for it.
package final class OneTime<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [AsyncStream<Value>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Nil until it has come.
    package var now: Value? { state.withLock { $0.value } }

    /// Gives the value; only the first counts.
    package func give(_ value: Value) {
        let waiting = state.withLock { state -> [AsyncStream<Value>.Continuation] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.yield(value) }
    }

    /// Waits for the value.
    ///
    /// `what`: what is waited for, as in "in vain for `what`".
    /// - Throws: `WaitedInVain`.
    package func value(_ what: String) async throws -> Value {
        let (coming, continuation) = AsyncStream.makeStream(of: Value.self)
        let known = state.withLock { state -> Value? in
            if state.value == nil { state.waiting.append(continuation) }
            return state.value
        }
        if let known { return known }
        return try await Wait.bounding(what) {
            for await value in coming { return value }
            throw WaitedInVain(what: what)
        }
    }
}
