import Synchronization

/// One delivery between its claim and the end of its attempt.
final class Transfer: Sendable {
    private struct State {
        var delivery: Delivery
        var isAborted = false
        var cancel: (@Sendable () -> Void)?
        var ending: Delivery?
        var waiting: [CheckedContinuation<Delivery, Never>] = []
    }

    private let state: Mutex<State>

    init(_ delivery: Delivery) { state = Mutex(State(delivery: delivery)) }

    /// The delivery, with what has been found out since it was claimed.
    var delivery: Delivery { state.withLock(\.delivery) }

    /// Whether somebody has taken it back.
    var isAborted: Bool { state.withLock(\.isAborted) }

    /// Takes note of what Apple says of the purchase.
    func learn(_ purchase: PurchaseFacts) {
        state.withLock { state in
            state.delivery.environment = purchase.environment
            state.delivery.purchase = purchase
        }
    }

    /// Does the work of the attempt in a task of its own, which only `abort` cancels: a daemon that stops lets it end.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await work() }
        let isAborted = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isAborted
        }
        if isAborted { task.cancel() }
        return await task.value
    }

    /// Lets the attempt end soon; it does not begin to send any more.
    func abort() {
        let cancel = state.withLock { state in
            state.isAborted = true
            return state.cancel
        }
        cancel?()
    }

    /// Says that nothing is sent any more, and what became of the delivery.
    func end(as delivery: Delivery) {
        let waiting = state.withLock { state in
            state.ending = delivery
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: delivery) }
    }

    /// What became of the delivery, as soon as nothing is sent any more.
    func ending() async -> Delivery {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }
}
