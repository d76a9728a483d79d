import CCurl
import Glibc

/// An easy handle of curl: the options, the state and the results of one transfer at a time.
///
/// Used on the thread of ``MultiLoop`` only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// Where curl writes what it has to say about a failure; it keeps the address, hence the allocation.
    private let errorText: UnsafeMutablePointer<CChar>
    /// The request's header lines, which curl reads from our list while the transfer lasts.
    private var headerLines: UnsafeMutablePointer<curl_slist>?
    /// For which kind of request the options are set that stay from one transfer to the next; nil for none.
    var kind: RequestKind?

    init() throws(CurlError) {
        guard let pointer = curl_easy_init() else { throw CurlError(CURLE_FAILED_INIT, during: "curl_easy_init") }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headerLines)
        errorText.deallocate()
    }

    /// Forgets all options and results, but keeps what makes a further transfer cheaper.
    func reset() {
        curl_easy_reset(pointer)
        forgetHeaders()
        kind = nil
    }

    /// Lets go of the header lines that curl has read.
    func forgetHeaders() {
        curl_slist_free_all(headerLines)
        headerLines = nil
    }

    // MARK: Options

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(ccurl_easy_setopt_long(pointer, option, value))
    }

    /// Sets a text option; curl keeps a copy.
    func set(_ option: CURLoption, _ value: String?) throws(CurlError) {
        guard let value else { return try check(ccurl_easy_setopt_string(pointer, option, nil)) }
        let length = value.utf8.count
        let code = value.withCString { text in
            // C would see a text with a zero end there.
            strlen(text) == length ? ccurl_easy_setopt_string(pointer, option, text) : CURLE_BAD_FUNCTION_ARGUMENT
        }
        try check(code)
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) throws(CurlError) {
        try check(ccurl_easy_setopt_pointer(pointer, option, value))
    }

    func set(_ option: CURLoption, _ value: curl_write_callback) throws(CurlError) {
        try check(ccurl_easy_setopt_writer(pointer, option, value))
    }

    /// Sets what a callback gets as its pointer to a time in milliseconds.
    func set(_ option: CURLoption, milliseconds duration: Duration) throws(CurlError) {
        try check(
            ccurl_easy_setopt_pointer(pointer, option, UnsafeMutableRawPointer(bitPattern: duration.milliseconds)))
    }

    func setSocketOption(_ value: curl_sockopt_callback) throws(CurlError) {
        try check(ccurl_easy_setopt_socket_option(pointer, value))
    }

    func setOpenSocket(_ value: curl_opensocket_callback) throws(CurlError) {
        try check(ccurl_easy_setopt_open_socket(pointer, value))
    }

    func setPrerequest(_ value: curl_prereq_callback) throws(CurlError) {
        try check(ccurl_easy_setopt_prerequest(pointer, value))
    }

    /// Sets the content to send; curl keeps a copy, which it can send again when a server refuses a stream unread.
    func setBody(_ body: [UInt8]) throws(CurlError) {
        try check(ccurl_easy_setopt_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        // Nil would mean a read callback, so even no bytes need an address.
        let copied = (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
            ccurl_easy_setopt_bytes(pointer, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
        }
        try check(copied)
    }

    /// Sets the header lines in curl's notation: `Name: value`, `Name;` for an empty value, `Name:` to leave one of
    /// curl's own out.
    func setHeaders(_ lines: [String]) throws(CurlError) {
        for line in lines {
            guard let longer = curl_slist_append(headerLines, line) else {
                throw CurlError(CURLE_OUT_OF_MEMORY, during: "curl_slist_append")
            }
            headerLines = longer
        }
        try check(ccurl_easy_setopt_list(pointer, CURLOPT_HTTPHEADER, headerLines))
    }

    /// Lets curl write down what goes wrong from here on, for ``errorDetail``.
    func collectErrorDetail() throws(CurlError) {
        errorText[0] = 0
        try set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
    }

    // MARK: Results

    /// What curl said about the last failure, or empty.
    var errorDetail: String { String(cString: errorText) }

    func long(_ info: CURLINFO) throws(CurlError) -> Int {
        var value = 0
        try check(ccurl_easy_getinfo_long(pointer, info, &value), "curl_easy_getinfo")
        return value
    }

    /// A time, which curl gives in microseconds.
    func duration(_ info: CURLINFO) throws(CurlError) -> Duration {
        var value: curl_off_t = 0
        try check(ccurl_easy_getinfo_offset(pointer, info, &value), "curl_easy_getinfo")
        return .microseconds(value)
    }

    private func check(_ code: CURLcode, _ operation: String = "curl_easy_setopt") throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code, during: operation) }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, so that a limit of a fraction does not become none; never negative.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64.max / 2_000 else { return .max }
        return Int(max(0, seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
