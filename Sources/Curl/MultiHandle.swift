import CCurl

/// A multi handle of curl: the transfers under way, and the connections and addresses that they share.
///
/// `@unchecked Sendable`: the thread of ``MultiLoop`` alone calls its methods, except ``wakeUp()``, which curl allows
/// from any thread while the handle lives, as it does as long as there is a reference to this object.
final class MultiHandle: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    init(_ configuration: CurlConfiguration) throws(CurlError) {
        guard let pointer = curl_multi_init() else { throw CurlError(CURLE_FAILED_INIT, during: "curl_multi_init") }
        self.pointer = pointer
        try set(CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX)
        try setMaximumConnectionsPerHost(configuration.maximumConnectionsPerHost)
        try set(CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maximumConcurrentTransfers)
    }

    deinit {
        // All easy handles have been removed, which is the one thing that could make this fail.
        let code = curl_multi_cleanup(pointer)
        assert(code == CURLM_OK)
    }

    /// Changes how many connections one host may have from here on.
    func setMaximumConnectionsPerHost(_ count: Int) throws(CurlError) {
        try set(CURLMOPT_MAX_HOST_CONNECTIONS, count)
    }

    private func set(_ option: CURLMoption, _ value: Int) throws(CurlError) {
        try check(ccurl_multi_setopt_long(pointer, option, value), "curl_multi_setopt")
    }

    private func check(_ code: CURLMcode, _ operation: String) throws(CurlError) {
        guard code == CURLM_OK else { throw CurlError(code, during: operation) }
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try check(curl_multi_add_handle(pointer, easy.pointer), "curl_multi_add_handle")
    }

    /// Takes a transfer out, which ends it if it is under way: the stream is reset, or the connection closed if it is
    /// not shared.
    func remove(_ easy: EasyHandle) throws(CurlError) {
        try check(curl_multi_remove_handle(pointer, easy.pointer), "curl_multi_remove_handle")
    }

    /// Does all that can be done without waiting.
    func perform() throws(CurlError) {
        var running: Int32 = 0
        try check(curl_multi_perform(pointer, &running), "curl_multi_perform")
    }

    /// The next transfer that has ended, which stays in the multi handle until it is removed.
    func nextCompletion() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left)?.pointee {
            if message.msg == CURLMSG_DONE, let easy = message.easy_handle { return (easy, message.data.result) }
        }
        return nil
    }

    /// Waits until there is something to do for a transfer, ``wakeUp()`` is called or the time is over.
    func poll(atMost timeout: Duration) throws(CurlError) {
        try check(curl_multi_poll(pointer, nil, 0, Int32(clamping: timeout.milliseconds), nil), "curl_multi_poll")
    }

    /// Ends the current or the next ``poll(atMost:)``.
    ///
    /// The only method for any thread. It can fail only because the pipe behind it is full, and then the poll wakes up
    /// anyway.
    func wakeUp() { _ = curl_multi_wakeup(pointer) }
}
