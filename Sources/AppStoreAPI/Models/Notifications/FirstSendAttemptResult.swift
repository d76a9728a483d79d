/// How the first attempt to deliver a notification ended, as Apple once answered it beside the attempts.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/firstsendattemptresult
package struct FirstSendAttemptResult: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let success = FirstSendAttemptResult(rawValue: "SUCCESS")
    package static let timedOut = FirstSendAttemptResult(rawValue: "TIMED_OUT")
    package static let tlsIssue = FirstSendAttemptResult(rawValue: "TLS_ISSUE")
    package static let circularRedirect = FirstSendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
    package static let noResponse = FirstSendAttemptResult(rawValue: "NO_RESPONSE")
    package static let socketIssue = FirstSendAttemptResult(rawValue: "SOCKET_ISSUE")
    package static let unsupportedCharset = FirstSendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
    package static let invalidResponse = FirstSendAttemptResult(rawValue: "INVALID_RESPONSE")
    package static let prematureClose = FirstSendAttemptResult(rawValue: "PREMATURE_CLOSE")
    package static let unsuccessfulHTTPResponseCode = FirstSendAttemptResult(
        rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    package static let other = FirstSendAttemptResult(rawValue: "OTHER")
    /// Called `TLS_ISSUE` since.
    package static let sslIssue = FirstSendAttemptResult(rawValue: "SSL_ISSUE")

    package static let known = [
        success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue, unsupportedCharset, invalidResponse,
        prematureClose, unsuccessfulHTTPResponseCode, other, sslIssue,
    ]
}
