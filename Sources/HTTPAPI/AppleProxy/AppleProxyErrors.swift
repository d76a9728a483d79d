import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

/// Turns a `ServiceError` into an answer as Apple would give it, for programs that know Apple's errors alone.
///
/// `docs/apple-libraries.md` has the table. Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
enum AppleProxyRefusal {
    /// Apple's numbers that our own refusals borrow; what Apple has no number for gets the status times ten thousand.
    private enum AppleCode {
        static let transactionIDNotFound: Int64 = 4_040_010
        static let generalInternal: Int64 = 5_000_000
        static let generalInternalRetryable: Int64 = 5_000_001
    }

    /// Apple's libraries compare the media type as a whole.
    private static let contentType = "application/json"

    /// The answer to a request that failed.
    static func response(to error: ServiceError, now: Date) -> Response {
        if let apple = error.apple, apple.httpStatus != 401, !apple.body.isEmpty {
            return response(
                HTTPResponse.Status(code: apple.httpStatus), apple.errorCode == nil ? nil : contentType, apple.body,
                retryAfter: error.retryAfter, now: now)
        }
        if error.reason == .unauthenticated {
            return response(.unauthorized, "text/plain", Array("Unauthenticated\n".utf8), now: now)
        }
        let (status, code) = statusAndCode(of: error)
        return response(
            status, contentType, body(code, message(of: error)), retryAfter: error.retryAfter, now: now)
    }

    /// The answer to a request that nobody has time for.
    static func overload(now: Date) -> OverloadResponse {
        let error = ServiceError.overloaded
        let (status, code) = statusAndCode(of: error)
        return OverloadResponse(
            Answer(
                status: status, contentType: contentType,
                headers: [.retryAfter: retryTime(OverloadResponse.pause, now)],
                body: .bytes(body(code, message(of: error)))))
    }

    private static func body(_ code: Int64, _ message: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("errorCode", code)
            writer.member("errorMessage", message)
        }
        return writer.takeBytes()
    }

    private static func statusAndCode(of error: ServiceError) -> (HTTPResponse.Status, Int64) {
        switch error.reason {
        case .environmentNotAllowed, .noProductionRelease: return (.notFound, AppleCode.transactionIDNotFound)
        case .appleUnauthorized, .appleAppUnknown, .appleUnavailable, .appleAnswerInvalid, .keyUnavailable,
            .storeUnavailable, .auditUnavailable, .consentUnknown,
            .deadlineExceeded:
            return (.internalServerError, AppleCode.generalInternalRetryable)
        case .overloaded: return (.serviceUnavailable, AppleCode.generalInternalRetryable)
        // Trying again may do twice what has been done, or meets the same fault.
        case .outcomeUnknown, .internalError, .environmentNotSupported:
            return (.internalServerError, AppleCode.generalInternal)
        default:
            let status = ProblemResponse.status(of: error)
            return (
                status, ruleBroken(error)?.appleError?.code ?? error.apple?.errorCode ?? Int64(status.code) * 10_000
            )
        }
    }

    /// The broken rule that gives the answer its number: the first that Apple has one for.
    private static func ruleBroken(_ error: ServiceError) -> Violation? {
        error.violations.first { $0.appleError?.code != nil }
    }

    private static func message(of error: ServiceError) -> String {
        guard !error.violations.isEmpty else { return error.apple?.errorMessage ?? error.message }
        let first = ruleBroken(error)
        let others = error.violations.filter { $0 != first }
        return ([first].compactMap(\.self) + others).map(\.message).joined(separator: " ")
    }

    private static func response(
        _ status: HTTPResponse.Status, _ contentType: String?, _ body: [UInt8], retryAfter: Duration? = nil, now: Date
    ) -> Response {
        var headers: HTTPFields = [:]
        headers[.contentType] = contentType
        if status == .tooManyRequests { headers[.retryAfter] = retryTime(retryAfter ?? .seconds(1), now) }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// When to come back, as Apple says it: an absolute UNIX time in milliseconds.
    private static func retryTime(_ wait: Duration, _ now: Date) -> String {
        let (seconds, attoseconds) = wait.components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return String(Int64((now.timeIntervalSince1970 * 1000).rounded(.up)) + milliseconds)
    }
}
