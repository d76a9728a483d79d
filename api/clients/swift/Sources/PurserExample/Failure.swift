import ArgumentParser
import GRPCCore
import GRPCProtobuf

/// Why a call failed: the status, and the details that Purser sends with it.
///
/// Programs decide by `code` and `reason`, people read `message`; `docs/errors.md` has every reason. All of it, with the types
/// of the API, is in one more detail, `Purser_V1_Problem`.
struct Failure: Error {
    let code: RPCError.Code
    let message: String
    /// Of `google.rpc.ErrorInfo`: a word in capitals, such as `LINK_CONFLICT`.
    private(set) var reason: String?
    /// Of `google.rpc.ErrorInfo`: what Apple said, whose something is.
    private(set) var facts: [String: String] = [:]
    /// Of `google.rpc.BadRequest`: every rule that the request breaks.
    private(set) var violations: [ErrorDetails.BadRequest.FieldViolation] = []
    /// Of `google.rpc.RetryInfo`: how long to stay away.
    private(set) var retryDelay: Duration?
    /// Of `google.rpc.RequestInfo`: what to quote to those who run Purser.
    private(set) var requestID: String?

    init(_ error: RPCError) {
        code = error.code
        message = error.message
        // There are none when it is not Purser that says so: a connection that failed, a deadline that passed here.
        guard let status = try? error.unpackGoogleRPCStatus() else { return }
        for detail in status.details {
            if let info = detail.errorInfo, info.domain == "purser" { (reason, facts) = (info.reason, info.metadata) }
            if let broken = detail.badRequest { violations = broken.violations }
            if let retry = detail.retryInfo { retryDelay = retry.delay }
            if let request = detail.requestInfo { requestID = request.requestID }
        }
    }
}

/// What there is to do about a failure.
enum Reaction {
    /// The same again, after a while; with the same idempotency key, since a call whose connection broke may have been done.
    case repeatCall
    /// The same again would fail again.
    case mendRequest
    case mendCredential
    /// Others, or this caller, have had enough for now.
    case comeBackLater
    /// It may have been done: look, or say the same again with the same idempotency key.
    case findOut
    /// Purser's own fault, or one that is not known here.
    case report

    /// As in `sysexits.h`.
    var exitCode: ExitCode {
        switch self {
        case .repeatCall, .comeBackLater, .findOut: ExitCode(75)
        case .mendRequest: ExitCode(65)
        case .mendCredential: ExitCode(77)
        case .report: ExitCode(1)
        }
    }
}

extension Failure {
    var reaction: Reaction {
        switch code {
        // Apple may have done what it did not answer to; Purser does not try such calls again either.
        case .unavailable: reason == "OUTCOME_UNKNOWN" ? .findOut : .repeatCall
        case .deadlineExceeded, .cancelled: .findOut
        case .resourceExhausted: .comeBackLater
        case .unauthenticated, .permissionDenied: .mendCredential
        case .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .outOfRange, .unimplemented: .mendRequest
        default: .report
        }
    }
}

extension Failure: CustomStringConvertible {
    var description: String {
        var lines = ["\(code): \(message)"]
        if let reason { lines.append("  reason \(reason)") }
        lines += facts.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" }
        lines += violations.map { "  \($0.field): \($0.violationDescription) (\($0.reason))" }
        if let retryDelay { lines.append("  come back after \(retryDelay.components.seconds) s") }
        if let requestID { lines.append("  request \(requestID)") }
        return lines.joined(separator: "\n")
    }
}
