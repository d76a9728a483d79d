import Domain
import Foundation
import Synchronization

/// Bounds how many unknown certificate chains or receipts are checked at the same time, as anybody can make us check one, and
/// shares the turns out: some are checked, some wait for a moment, and the rest is shed.
///
/// Requesters take turns, however much each of them asks for: whoever floods us waits behind his own requests. When as many
/// wait as may, the latest of whoever has most waiting gives way to somebody who has less.
package final class ChainCheckBound: Sendable {
    /// Checks at the same time: half of the processors at most, so that others get their turn.
    package static let defaultConcurrency = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount / 2))

    /// Told whether there is room.
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private struct State {
        var underWay = 0
        var waitingCount = 0
        /// The checks that wait, in the order in which they came; of nobody who has none.
        var waiting: [Requester: [Waiter]] = [:]
        /// Whoever has checks waiting, in the order of their turns.
        var turns: [Requester] = []

        mutating func append(_ waiter: Waiter, of requester: Requester) {
            if waiting[requester] == nil { turns.append(requester) }
            waiting[requester, default: []].append(waiter)
            waitingCount += 1
        }

        /// The oldest of whoever's turn it is, who then has the last turn.
        mutating func removeNext() -> Waiter? {
            guard let requester = turns.first, var own = waiting[requester], !own.isEmpty else { return nil }
            let next = own.removeFirst()
            turns.removeFirst()
            waiting[requester] = own.isEmpty ? nil : own
            if !own.isEmpty { turns.append(requester) }
            waitingCount -= 1
            return next
        }

        /// The latest of whoever has most waiting, if that is more than `count`.
        mutating func removeLatestOfGreediest(ifMoreThan count: Int) -> Waiter? {
            guard let (requester, most) = waiting.max(by: { $0.value.count < $1.value.count }), most.count > count
            else {
                return nil
            }
            waitingCount -= 1
            return waiting[requester]?.removeLast()
        }
    }

    private let maximumUnderWay: Int
    private let maximumWaiting: Int
    private let maximumWaitingOfOne: Int
    private let state = Mutex(State())

    /// `underWay`: checks at the same time; `waiting`: how many wait at most; `waitingOfOne`: how many of one requester, nil
    /// for all of these places while nobody else wants them.
    init(underWay: Int, waiting: Int, waitingOfOne: Int? = nil) {
        maximumUnderWay = underWay
        maximumWaiting = waiting
        maximumWaitingOfOne = waitingOfOne ?? waiting
    }

    /// Makes a check when there is room for it.
    ///
    /// - Throws: `verificationBusy` when there is none, or what the check throws.
    func check<Value>(
        for requester: Requester, _ body: () throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard await enter(requester) else {
            throw ServiceError(
                .verificationBusy, "Too many unknown certificate chains are being checked; send it again.",
                retryAfter: .seconds(1))
        }
        defer { leave() }
        return try body()
    }

    /// Waits for room.
    ///
    /// - Returns: whether there is any; then it has to be left again.
    func enter(_ requester: Requester) async -> Bool {
        await withCheckedContinuation { waiter in
            enum Decision {
                case goes, waits, isShed
                case waitsInstead(of: Waiter)
            }
            let decision: Decision = state.withLock { state in
                if state.underWay < maximumUnderWay {
                    state.underWay += 1
                    return .goes
                }
                let own = state.waiting[requester]?.count ?? 0
                guard own < maximumWaitingOfOne else { return .isShed }
                guard state.waitingCount >= maximumWaiting else {
                    state.append(waiter, of: requester)
                    return .waits
                }
                guard let shed = state.removeLatestOfGreediest(ifMoreThan: own + 1) else { return .isShed }
                state.append(waiter, of: requester)
                return .waitsInstead(of: shed)
            }
            switch decision {
            case .goes: waiter.resume(returning: true)
            case .waits: break
            case .isShed: waiter.resume(returning: false)
            case .waitsInstead(let shed): shed.resume(returning: false)
            }
        }
    }

    /// Hands the room over to the requester whose turn it is.
    func leave() {
        let next = state.withLock { state -> Waiter? in
            let next = state.removeNext()
            if next == nil { state.underWay -= 1 }
            return next
        }
        next?.resume(returning: true)
    }

    /// How many wait.
    var waitingCount: Int { state.withLock(\.waitingCount) }
}
