import CCurl

/// A multi handle of curl: the transfers under way, and the connections and addresses that they share.
///
/// `@unchecked Sendable`: it is made by whoever makes the client and handed to the thread of ``MultiLoop``, which alone
/// calls its methods.
final class MultiHandle: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer
    private let watch: SocketWatch

    init(_ configuration: CurlConfiguration, _ watch: SocketWatch) throws(CurlError) {
        guard let pointer = curl_multi_init() else { throw CurlError(CURLE_FAILED_INIT, during: "curl_multi_init") }
        self.pointer = pointer
        self.watch = watch
        try setCallbacks()
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

    /// Does what is due by the time; what has been added is.
    func runTimer() throws(CurlError) {
        if watch.takeTimer() { try act(CURL_SOCKET_TIMEOUT, 0) }
    }

    /// Waits until there is something to do, a signal is given or the time is over, and does what the sockets allow.
    func waitAndWork(atMost limit: Duration) throws(CurlError) {
        for event in try watch.wait(atMost: limit) { try act(event.socket, event.readiness) }
    }

    private func act(_ socket: curl_socket_t, _ readiness: CInt) throws(CurlError) {
        var running: Int32 = 0
        try check(curl_multi_socket_action(pointer, socket, readiness, &running), "curl_multi_socket_action")
    }

    /// The next transfer that has ended, which stays in the multi handle until it is removed.
    func nextCompletion() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left)?.pointee {
            if message.msg == CURLMSG_DONE, let easy = message.easy_handle { return (easy, message.data.result) }
        }
        return nil
    }

    /// Lets curl say what to wait for; the address is good until `curl_multi_cleanup` has returned.
    private func setCallbacks() throws(CurlError) {
        let address = Unmanaged.passUnretained(watch).toOpaque()
        let watchSocket: curl_socket_callback = { _, socket, wanted, address, _ in
            SocketWatch.at(address)?.watch(socket, wanted)
            return 0
        }
        let setTimer: curl_multi_timer_callback = { _, milliseconds, address in
            SocketWatch.at(address)?.setTimer(milliseconds)
            return 0
        }
        try check(ccurl_multi_set_socket_callback(pointer, watchSocket, address), "curl_multi_setopt")
        try check(ccurl_multi_set_timer_callback(pointer, setTimer, address), "curl_multi_setopt")
    }
}

extension SocketWatch {
    fileprivate static func at(_ address: UnsafeMutableRawPointer?) -> SocketWatch? {
        address.map { Unmanaged<SocketWatch>.fromOpaque($0).takeUnretainedValue() }
    }
}
