/// One HTTP request and the limits of its response.
package struct CurlRequest: Sendable {
    /// The methods in use.
    ///
    /// Source: RFC 9110, section 9; RFC 5789.
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package var method: Method
    /// An absolute `https` URL, or an `http` one where that is allowed.
    ///
    /// Its path is sent as it is written, without resolving `..`.
    package var url: String
    /// Header fields in the order in which they are sent.
    ///
    /// The caller's fields replace those that curl would add by itself.
    package var headers: [(name: String, value: String)]
    /// The content to send; an empty array sends `Content-Length: 0`, nil sends no content.
    package var body: [UInt8]?
    /// Time in which a new connection must be ready, name resolution and TLS handshake included.
    package var connectTimeout: Duration
    /// Time from handing the request over until its response is complete, waiting for a free connection included.
    package var totalTimeout: Duration
    /// When it ends at the latest; nil for no such moment.
    ///
    /// A request that has found no connection before does not go out, however long the whole process was stopped meanwhile.
    package var latestEnd: ContinuousClock.Instant?
    /// When it goes out at the latest, which says nothing of when it ends; nil for no such moment.
    package var latestStart: ContinuousClock.Instant?
    /// Bytes that the response's content may have.
    package var maximumResponseBytes: Int
    /// The Unix socket to connect to instead of the URL's host; the URL may then be an `http` one.
    package var unixSocket: String?
    /// Whether the request goes out on a connection of its own, which may be one more than the configuration allows.
    ///
    /// For requests that must not be sent twice: on a kept connection that turns out to be dead, curl sends a request
    /// again by itself, and nobody knows whether the server has acted on the first.
    /// Source: https://curl.se/libcurl/c/CURLOPT_FRESH_CONNECT.html
    package var needsOwnConnection = false
    /// Whether the URL may be an `http` one: for servers on this machine.
    package var allowsClearText = false

    /// A request with usual limits.
    package init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        connectTimeout: Duration = .seconds(5), totalTimeout: Duration = .seconds(30),
        maximumResponseBytes: Int = 4_194_304
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.connectTimeout = connectTimeout
        self.totalTimeout = totalTimeout
        self.maximumResponseBytes = maximumResponseBytes
    }
}
