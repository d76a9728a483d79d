import Domain
import HTTPTypes
import Logging
import Synchronization

/// Writes a line for each request; of those that nobody answers for and that come to nothing so many a minute, so that a flood
/// of strangers' requests neither fills the journal nor makes it drop what matters.
///
/// Those are the failures of requests without a caller or operator, but for internal errors. Each reason is bounded by itself; a
/// line tells how many of its reason had none before it.
final class AccessLog: Sendable {
    /// Lines of one reason in a minute.
    static let linesPerMinute = 60
    private static let window = Duration.seconds(60)

    private struct Count {
        var since: ContinuousClock.Instant
        var written = 0
        var unwritten = 0
    }

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    /// By reason, of which there are some dozens.
    private let counts = Mutex<[String: Count]>([:])

    /// `now`: a monotonic clock.
    init(
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.logger = logger
        self.now = now
    }

    func write(_ record: AccessRecord) {
        guard let reason = record.strangersFault else { return record.write(to: logger) }
        let unwritten = counts.withLock { counts -> Int? in
            let instant = now()
            var count = counts[reason] ?? Count(since: instant)
            defer { counts[reason] = count }
            if count.since + Self.window <= instant { (count.since, count.written) = (instant, 0) }
            guard count.written < Self.linesPerMinute else {
                count.unwritten += 1
                return nil
            }
            count.written += 1
            defer { count.unwritten = 0 }
            return count.unwritten
        }
        if let unwritten { record.write(to: logger, unwrittenBefore: unwritten) }
    }
}

/// One answered request, as logs and metrics tell of it.
struct AccessRecord: Sendable {
    /// The route of a request that has none.
    static let unrouted = "unrouted"

    let listener: String
    let method: HTTPRequest.Method
    let requestID: String
    /// The route's template or Apple's name of the call, never the path itself.
    var route = unrouted
    var status = HTTPResponse.Status.ok
    /// The caller's name, once it is known.
    var caller: String?
    /// Who acts; told where it is an operator, as `caller` tells the rest.
    var actor: Actor?
    var duration = Duration.zero
    var failure: ServiceError?

    /// What went wrong with a request that nobody answers for, unless that is an internal error; nil for all others.
    var strangersFault: String? {
        if caller != nil { return nil }
        if case .operator? = actor { return nil }
        if Task.isCancelled { return "cancelled" }
        guard level < .error else { return nil }
        return failure?.reason.rawValue ?? (status.code >= 400 ? "\(status.code)" : nil)
    }

    /// Writes the line of the access log.
    ///
    /// `unwrittenBefore`: how many such requests had no line.
    func write(to logger: Logger, unwrittenBefore count: Int = 0) {
        let level = Task.isCancelled ? .info : level
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "listener": "\(listener)", "method": "\(method.rawValue)", "route": "\(route)",
            "status": .stringConvertible(status.code), "request_id": "\(requestID)",
            "duration_ms": .stringConvertible(milliseconds),
        ]
        if let caller { metadata["caller"] = "\(caller)" }
        if case .operator(_, let claimedName)? = actor {
            metadata["actor"] = actor.map { "\($0.name)" }
            if let claimedName { metadata["claimed_name"] = "\(claimedName)" }
        }
        if count > 0 { metadata["unlogged_before"] = .stringConvertible(count) }
        if let failure {
            metadata["reason"] = "\(failure.reason.rawValue)"
            if let cause = failure.cause { metadata["cause"] = "\(cause)" }
        }
        let message: Logger.Message = Task.isCancelled ? "The client went away" : "Request answered"
        logger.log(level: level, message, metadata: metadata)
    }

    /// The caller's faults are information, Apple's are warnings, ours are errors.
    private var level: Logger.Level {
        switch failure?.code {
        case nil, .invalidArgument, .notFound, .permissionDenied, .unauthenticated, .failedPrecondition, .outOfRange,
            .unimplemented, .resourceExhausted:
            .info
        case .unavailable, .deadlineExceeded: .warning
        case .internalError: .error
        }
    }

    private var milliseconds: Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

/// The id of a request, in its answer and its log line.
enum RequestID {
    /// The longest id taken from a caller, in characters.
    static let maximumLength = 128

    /// The caller's own id, if it is harmless in headers and logs.
    static func sane(_ text: String?) -> String? {
        guard let text, (1...maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            })
        else { return nil }
        return text
    }
}
