/// How an attempt to deliver a notification ended.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
package struct SendAttemptResult: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let success = SendAttemptResult(rawValue: "SUCCESS")
    package static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
    package static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
    package static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
    package static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
    package static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
    package static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
    package static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
    package static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
    package static let unsuccessfulHTTPResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    package static let other = SendAttemptResult(rawValue: "OTHER")

    package static let known = [
        success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue, unsupportedCharset, invalidResponse,
        prematureClose, unsuccessfulHTTPResponseCode, other,
    ]
}
