import CCurl
import Glibc

/// Why a transfer brought no response, in curl's words.
///
/// It never holds a header, a body or a URL.
package struct CurlError: Error, Sendable {
    /// What a caller may want to tell apart.
    package enum Kind: Sendable, Equatable {
        /// The request cannot be sent as given: URL, scheme or a header is malformed.
        case invalidRequest
        /// The name of the server or proxy has no address.
        case nameResolution
        /// Every address of the server is one that ``CurlConfiguration/admitsAddress`` does not admit.
        case addressRefused
        /// The server or proxy does not take the connection.
        case connectFailed
        /// The TLS handshake failed: version, certificate or host name.
        case tls
        /// A timeout of the request is over.
        case timeout
        /// ``CurlRequest/latestStart`` was over before a connection was ready.
        case tooLate
        /// The connection ended before the response did.
        case connectionLost
        /// What came is not valid HTTP, or the server reset the HTTP/2 stream.
        case protocolError
        /// Headers or content exceed the limit.
        case responseTooLarge
        /// The task that waited for the response was cancelled.
        case cancelled
        /// The client has been shut down.
        case shutDown
        case other
    }

    package let kind: Kind
    /// curl's number: a `CURLcode`, or a `CURLMcode` where ``operation`` is a function of the multi interface.
    package let code: Int
    /// curl's text for the number.
    package let text: String
    /// What curl (or we) said about this case, or empty.
    package let detail: String
    /// The C function that failed; `transfer` for what happened on the network.
    package let operation: String
    /// Whether a byte of the request can have left this machine.
    ///
    /// False is certain: the connection was never ready for the request.
    package private(set) var requestMayHaveBeenSent: Bool

    init(
        _ code: CURLcode, during operation: String, detail: String = "", kind: Kind? = nil,
        requestMayHaveBeenSent: Bool = false
    ) {
        self.kind = kind ?? Kind(code, requestMayHaveBeenSent: requestMayHaveBeenSent)
        self.code = Int(code.rawValue)
        self.text = String(cString: curl_easy_strerror(code))
        self.detail = detail
        self.operation = operation
        self.requestMayHaveBeenSent = requestMayHaveBeenSent
    }

    init(_ code: CURLMcode, during operation: String) {
        self.kind = .other
        self.code = Int(code.rawValue)
        self.text = String(cString: curl_multi_strerror(code))
        self.detail = ""
        self.operation = operation
        self.requestMayHaveBeenSent = false
    }

    /// A failure of the system.
    init(errno number: CInt, during operation: String) {
        self.kind = .other
        self.code = Int(number)
        self.text = String(cString: strerror(number))
        self.detail = ""
        self.operation = operation
        self.requestMayHaveBeenSent = false
    }

    /// The same failure, of a transfer of which more is known.
    func with(requestMayHaveBeenSent: Bool) -> CurlError {
        var error = self
        error.requestMayHaveBeenSent = requestMayHaveBeenSent
        return error
    }

    static func cancelled(requestMayHaveBeenSent: Bool) -> CurlError {
        CurlError(
            CURLE_ABORTED_BY_CALLBACK, during: "transfer", detail: "the waiting task was cancelled", kind: .cancelled,
            requestMayHaveBeenSent: requestMayHaveBeenSent)
    }

    static func shutDown(requestMayHaveBeenSent: Bool) -> CurlError {
        CurlError(
            CURLE_ABORTED_BY_CALLBACK, during: "transfer", detail: "the client has been shut down", kind: .shutDown,
            requestMayHaveBeenSent: requestMayHaveBeenSent)
    }
}

extension CurlError: CustomStringConvertible {
    /// One line such as `transfer: Couldn't connect to server (7): Failed to connect to …`.
    package var description: String {
        "\(operation): \(text) (\(code))" + (detail.isEmpty ? "" : ": \(detail)")
    }
}

extension CurlError.Kind {
    /// Sorts curl's numbers.
    ///
    /// - Parameters:
    ///   - code: What the transfer ended with.
    ///   - requestMayHaveBeenSent: Whether the connection was ready when it did. A connection lost before, to a proxy
    ///     say, never was one.
    ///
    /// Source: libcurl-errors(3).
    init(_ code: CURLcode, requestMayHaveBeenSent: Bool) {
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            self = .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = .nameResolution
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            self = .connectFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
            self = .tls
        case CURLE_OPERATION_TIMEDOUT:
            self = .timeout
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            self = requestMayHaveBeenSent ? .connectionLost : .connectFailed
        case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            self = .protocolError
        case CURLE_ABORTED_BY_CALLBACK:
            self = .cancelled
        default:
            self = .other
        }
    }
}
