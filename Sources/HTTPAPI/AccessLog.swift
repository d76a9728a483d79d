import Domain
import HTTPTypes
import Logging

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

    /// Writes the line of the access log.
    func write(to logger: Logger) {
        let level = Task.isCancelled ? .info : level
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "listener": "\(listener)", "method": "\(method.rawValue)", "route": "\(route)",
            "status": "\(status.code)", "request_id": "\(requestID)", "duration_ms": "\(milliseconds)",
        ]
        if let caller { metadata["caller"] = "\(caller)" }
        if case .operator(_, let claimedName)? = actor {
            metadata["actor"] = actor.map { "\($0.name)" }
            if let claimedName { metadata["claimed_name"] = "\(claimedName)" }
        }
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
