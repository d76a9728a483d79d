import CCurl
import Glibc

extension EasyHandle {
    /// Sets every option of a transfer except where its results go.
    ///
    /// On a handle that has carried a request of the same kind only what differs is set.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - configuration: What all transfers have in common.
    /// - Returns: Whether all options were set, so that those about results must be too.
    /// - Throws: ``CurlError`` of kind ``CurlError/Kind/invalidRequest`` for a malformed header, otherwise whatever
    ///   curl says.
    func prepare(_ request: CurlRequest, _ configuration: CurlConfiguration) throws(CurlError) -> Bool {
        let wanted = RequestKind(request)
        let isNew = kind != wanted
        if isNew {
            if kind != nil { reset() }
            try setSecurity(configuration, allowsClearText: wanted.allowsClearText)
            try setConnection(configuration, unixSocket: wanted.unixSocket)
            try set(CURLOPT_USERAGENT, configuration.userAgent)
            kind = wanted
        }
        try collectErrorDetail()
        if request.needsOwnConnection {
            try set(CURLOPT_FRESH_CONNECT, 1)
            try set(CURLOPT_FORBID_REUSE, 1)
        }
        // Zero would mean the default.
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, min(request.connectTimeout.milliseconds, Int(Int32.max))))
        try set(CURLOPT_URL, request.url)
        if let body = request.body { try setBody(body) }
        if request.method == .head { try set(CURLOPT_NOBODY, 1) }
        try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        try setHeaders(Self.headerLines(request))
        return isNew
    }

    /// Makes the handle ready for another request, after one that has ended well or not.
    func recycle(after request: CurlRequest, succeeded: Bool) {
        // What is set for a body, for instance, has no value that unsets it.
        let isPlain = request.body == nil && request.method != .head && !request.needsOwnConnection
        if succeeded && isPlain { forgetHeaders() } else { reset() }
    }

    private func setSecurity(_ configuration: CurlConfiguration, allowsClearText: Bool) throws(CurlError) {
        try set(CURLOPT_PROTOCOLS_STR, allowsClearText ? "http,https" : "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = configuration.certificateAuthorityFile {
            try set(CURLOPT_CAINFO, file)
            // Otherwise the system's directory of authorities would be trusted beside the file.
            try set(CURLOPT_CAPATH, nil)
        }
    }

    private func setConnection(_ configuration: CurlConfiguration, unixSocket: String?) throws(CurlError) {
        // Texts, even if empty, keep curl from looking at the environment.
        try set(CURLOPT_PROXY, configuration.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Rather wait for a connection to share than open another.
        try set(CURLOPT_PIPEWAIT, 1)
        // Zero would mean no limit.
        try set(CURLOPT_MAXAGE_CONN, max(1, Int(configuration.maximumConnectionIdleTime.components.seconds)))
        try set(CURLOPT_MAXLIFETIME_CONN, max(1, Int(configuration.maximumConnectionAge.components.seconds)))
        if let unixSocket { try set(CURLOPT_UNIX_SOCKET_PATH, unixSocket) } else { try setTCP(configuration) }
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it, giving up a transfer while its name is being resolved would block the thread until the resolver
        // answers. The resolver's own thread cleans up when it is done.
        try set(CURLOPT_QUICK_EXIT, 1)
    }

    private func setTCP(_ configuration: CurlConfiguration) throws(CurlError) {
        // Connections are few and last, so each may ask the resolver: an address that has changed, or a name that is back, is
        // used by the next one, and not a minute later.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_NODELAY, 1)
        // A connection whose peer has vanished would otherwise swallow requests for the quarter of an hour in which the
        // system repeats its packets.
        try set(CURLOPT_SOCKOPTDATA, milliseconds: configuration.unacknowledgedDataTimeout)
        try setSocketOption { timeout, socket, _ in
            var milliseconds = CUnsignedInt(clamping: Int(bitPattern: timeout))
            let length = socklen_t(MemoryLayout.size(ofValue: milliseconds))
            let isSet = setsockopt(socket, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, length) == 0
            return isSet ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR
        }
    }

    /// The request's fields in curl's notation, and what keeps curl from adding fields that nobody asked for.
    private static func headerLines(_ request: CurlRequest) throws(CurlError) -> [String] {
        var lines: [String] = []
        for (name, value) in request.headers {
            guard isToken(name), !holdsControlCharacter(value) else {
                throw CurlError(
                    CURLE_BAD_FUNCTION_ARGUMENT, during: "curl_slist_append", detail: "a header field is malformed")
            }
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        for (name, line) in unasked
        where !request.headers.contains(where: { CurlHeaders.areEqual($0.name.utf8, name.utf8) }) {
            lines.append(line)
        }
        return lines
    }

    /// Fields that curl would add by itself, and the lines that keep it from it.
    private static let unasked = [("Expect", "Expect:"), ("Accept", "Accept:"), ("Content-Type", "Content-Type:")]

    /// Whether the text holds what no field value may (RFC 9110, section 5.5); a horizontal tab may be in it.
    private static func holdsControlCharacter(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }
    }

    /// Whether the text can be a field name (RFC 9110, section 5.1).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "-!#$%&'*+.^_`|~".utf8.contains(byte)
                }
            }
    }
}

/// What a request has in common with others so far that a handle need not be set up anew for each.
struct RequestKind: Equatable {
    let allowsClearText: Bool
    let unixSocket: String?

    init(_ request: CurlRequest) {
        allowsClearText = request.allowsClearText || request.unixSocket != nil
        unixSocket = request.unixSocket
    }
}
