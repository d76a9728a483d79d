package import Logging
import Synchronization

/// Something that fails for a while: one line in the log when that begins and one when it is over, however often it is tried
/// meanwhile.
package final class Outage: Sendable {
    private struct State {
        let cause: String
        var failures: Int
    }

    private let began: Logger.Message
    private let ended: Logger.Message
    private let logger: Logger
    private let state = Mutex<State?>(nil)

    /// - Parameters:
    ///   - began: the line of the beginning, an error.
    ///   - ended: the line of the end.
    ///   - logger: gets both.
    package init(_ began: Logger.Message, ended: Logger.Message, logger: Logger) {
        self.began = began
        self.ended = ended
        self.logger = logger
    }

    /// Why it failed when that began; nil while all is well.
    package var cause: String? { state.withLock { $0?.cause } }

    /// Takes note of a failure.
    package func failed(_ cause: String) {
        let isFirst = state.withLock { state in
            defer { state = State(cause: state?.cause ?? cause, failures: (state?.failures ?? 0) + 1) }
            return state == nil
        }
        if isFirst { logger.error(began, metadata: ["cause": "\(cause)"]) }
    }

    /// Takes note of a success.
    package func succeeded() {
        let over = state.withLock { state in
            defer { state = nil }
            return state
        }
        if let over { logger.notice(ended, metadata: ["failures": .stringConvertible(over.failures)]) }
    }
}

extension Logger {
    /// Tells of something that could not be done, unless it was for the store: that tells of its outage itself, once, and not
    /// at each thing that comes to nothing meanwhile.
    package func tell(
        _ message: Logger.Message, _ error: ServiceError, level: Logger.Level = .error,
        _ metadata: Logger.Metadata = [:]
    ) {
        log(
            level: error.reason == .storeUnavailable ? .debug : level, message,
            metadata: metadata.merging(["cause": "\(error.cause ?? error.message)"]) { $1 })
    }
}
