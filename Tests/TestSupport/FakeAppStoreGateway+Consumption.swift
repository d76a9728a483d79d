package import Domain
package import Foundation
import Synchronization

extension FakeAppStoreGateway {
    /// One time that an answer was handed over; begin and end are places in one order, in which `mark` has places too.
    package struct HandOver: Sendable, Equatable {
        package let message: ConsumptionMessage
        package let at: Date
        package let begin: Int
        /// Nil as long as it goes on.
        package var end: Int?
    }

    struct Consumption {
        var failure: CallFailure?
        /// What becomes of the next answers about a transaction.
        var planned: [String: [CallResult<Void>]] = [:]
        var handOvers: [HandOver] = []
        var place = 0
        var turns = 0
        var ignoresCancellation = false

        mutating func nextPlace() -> Int {
            place += 1
            return place
        }
    }

    /// Every time that an answer was handed over, in order.
    package var handOvers: [HandOver] { state.withLock { $0.consumption.handOvers } }

    /// A place in the order of hand-overs: whatever begins later has a greater one.
    package func mark() -> Int { state.withLock { $0.consumption.nextPlace() } }

    /// Makes sending consumption fail: for good if Apple rejects it, else in a way that another attempt may mend.
    package func failConsumption(with error: ServiceError?) { failConsumption(error.map { CallFailure($0) }) }

    /// Makes sending consumption fail in this way.
    package func failConsumption(_ failure: CallFailure?) {
        state.withLock { $0.consumption.failure = failure }
    }

    /// Lets the next answers about a transaction come to this, one after the other.
    package func plan(_ outcomes: [CallResult<Void>], for transactionID: String) {
        state.withLock { $0.consumption.planned[transactionID, default: []] += outcomes }
    }

    /// Makes every hand-over give way to other tasks so many times before it ends.
    package func linger(turns: Int) { state.withLock { $0.consumption.turns = turns } }

    /// Lets Apple accept what is handed over even if the task is cancelled meanwhile.
    package func ignoreCancellation() { state.withLock { $0.consumption.ignoresCancellation = true } }

    package func consumptionBody(_ answer: ConsumptionAnswer) -> [UInt8] {
        // Text without anything that JSON would have to escape.
        let text = "\(answer)".filter { $0 != "\"" && $0 != "\\" }
        return Array(#"{"answer":"\#(text)"}"#.utf8)
    }

    package func sendConsumption(_ message: ConsumptionMessage, _ call: UpstreamCall) async -> CallResult<Void> {
        guard !Task.isCancelled else { return .failed(.cancelled, attempts: 0) }
        let index = state.withLock { state in
            state.questions.append(.consumption(message.transactionID))
            state.calls.append(call)
            state.consumption.handOvers.append(
                HandOver(message: message, at: now(), begin: state.consumption.nextPlace(), end: nil))
            return state.consumption.handOvers.count - 1
        }
        defer { state.withLock { $0.consumption.handOvers[index].end = $0.consumption.nextPlace() } }
        await consumptionGate.pass()
        var turns = state.withLock { $0.consumption.turns }
        while turns > 0, !Task.isCancelled {
            turns -= 1
            await Task.yield()
        }
        let isCancelled = Task.isCancelled
        return state.withLock { state in
            if isCancelled, !state.consumption.ignoresCancellation {
                return .failed(.cancelled, mayHaveReachedApple: true)
            }
            if state.consumption.planned[message.transactionID]?.isEmpty == false,
                let planned = state.consumption.planned[message.transactionID]?.removeFirst()
            {
                return planned
            }
            return state.consumption.failure.map { .failed($0) } ?? .accepted
        }
    }
}

extension CallResult<Void> {
    /// Apple has taken it.
    package static var accepted: CallResult {
        CallResult(.success(()), attempts: [.sample(httpStatus: 202, failure: nil)])
    }

    /// It failed after so many attempts.
    package static func failed(
        _ failure: CallFailure, attempts: Int = 1, mayHaveReachedApple: Bool = false
    ) -> CallResult {
        let attempt = DeliveryAttempt.sample(
            httpStatus: failure.error.apple?.httpStatus, errorCode: failure.error.apple?.errorCode,
            failure: failure.error.reason.rawValue)
        return CallResult(
            .failure(failure), attempts: Array(repeating: attempt, count: attempts),
            mayHaveReachedApple: mayHaveReachedApple)
    }
}

extension CallFailure {
    /// The task was cancelled.
    package static var cancelled: CallFailure {
        CallFailure(ServiceError(.appleUnavailable, "cancelled"), isRetryable: true)
    }

    /// Apple fails, and the next attempt may succeed.
    package static var unavailable: CallFailure {
        CallFailure(ServiceError(.appleUnavailable, "Apple failed."), isRetryable: true)
    }

    /// Apple refuses for good.
    package static var rejected: CallFailure {
        CallFailure(
            ServiceError(
                .appleRejected, "Apple rejected it.",
                apple: AppleFailure(
                    httpStatus: 400, errorCode: 4_000_047, errorName: "InvalidTransactionTypeNotSupportedError",
                    errorMessage: nil, environment: .production, endpoint: "Send Consumption Information",
                    body: Array("{}".utf8))))
    }
}

extension DeliveryAttempt {
    /// An attempt with what a test cares about.
    package static func sample(
        at startedAt: TimeInterval = 1_700_000_000, httpStatus: Int?, errorCode: Int64? = nil, failure: String?
    ) -> DeliveryAttempt {
        DeliveryAttempt(
            startedAt: Date(timeIntervalSince1970: startedAt), duration: .milliseconds(20), httpStatus: httpStatus,
            errorCode: errorCode, failure: failure)
    }
}
