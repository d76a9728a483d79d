import Domain
import Synchronization

/// Bounds how many unknown certificate chains are checked at the same time, as anybody can make us check one: some are
/// checked, some wait for a moment, and the rest is turned away.
final class ChainCheckBound: Sendable {
    private struct State {
        var underWay = 0
        /// First come, first served; a check takes milliseconds.
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let maximumUnderWay: Int
    private let maximumWaiting: Int
    private let state = Mutex(State())

    init(underWay: Int, waiting: Int) {
        maximumUnderWay = underWay
        maximumWaiting = waiting
    }

    /// Makes a check when there is room for it.
    ///
    /// - Throws: `verificationBusy` when there is none, or what the check throws.
    func check<Value>(_ body: () throws(ServiceError) -> Value) async throws(ServiceError) -> Value {
        try await enter()
        defer { leave() }
        return try body()
    }

    private func enter() async throws(ServiceError) {
        let isAdmitted = await withCheckedContinuation { continuation in
            let decision = state.withLock { state -> Bool? in
                if state.underWay < maximumUnderWay {
                    state.underWay += 1
                    return true
                }
                guard state.waiting.count < maximumWaiting else { return false }
                state.waiting.append(continuation)
                return nil
            }
            if let decision { continuation.resume(returning: decision) }
        }
        guard isAdmitted else {
            throw ServiceError(
                .verificationBusy, "Too many unknown certificate chains are being checked; send it again.",
                retryAfter: .seconds(1))
        }
    }

    /// Hands the room over to the first who waits.
    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.underWay -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume(returning: true)
    }
}
