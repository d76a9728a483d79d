import CCurl
import Glibc

/// What the loop waits for on curl's behalf: its sockets, by epoll(7), and its timer; and a signal from any other thread.
///
/// curl says which sockets and when by calling back, from within whatever function of the multi handle. Used on the
/// thread of ``MultiLoop`` only.
/// Source: https://curl.se/libcurl/c/curl_multi_socket_action.html
final class SocketWatch {
    /// A socket at which something has happened.
    struct Event {
        let socket: CInt
        /// `CURL_CSELECT_IN` and `CURL_CSELECT_OUT`.
        let readiness: CInt
    }

    /// Events taken at a time; more come with the next wait.
    private static let maximumEvents = 64

    /// When curl wants to be called next, if it does.
    private(set) var timer: ContinuousClock.Instant?
    private let epoll: CInt
    private let signal: WakeUpSignal
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// The sockets that epoll knows.
    private var watched: Set<CInt> = []
    /// The sockets whose packets are held back until the next wait.
    private var held: [CInt] = []
    /// Why a socket cannot be watched, once one could not.
    private var failure: CurlError?

    init(_ signal: WakeUpSignal) throws(CurlError) {
        self.signal = signal
        epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        events = .allocate(capacity: Self.maximumEvents)
        events.initialize(repeating: epoll_event())
        guard epoll >= 0 else { throw CurlError(errno: errno, during: "epoll_create1") }
        // By edges, so that nobody needs to read it empty: every signal is one.
        guard control(EPOLL_CTL_ADD, signal.descriptor, EPOLLIN.rawValue | EPOLLET.rawValue) == 0 else {
            throw CurlError(errno: errno, during: "epoll_ctl")
        }
    }

    deinit {
        if epoll >= 0 { close(epoll) }
        events.deallocate()
    }

    // MARK: What curl asks for

    /// Watches a socket for what curl wants of it (`CURL_POLL_…`), or no longer.
    func watch(_ socket: CInt, _ wanted: CInt) {
        let interest: EPOLL_EVENTS.RawValue =
            switch wanted {
            case CURL_POLL_IN: EPOLLIN.rawValue
            case CURL_POLL_OUT: EPOLLOUT.rawValue
            case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
            default: 0
            }
        guard interest != 0 else {
            // It may be closed already, and forgotten with that.
            if watched.remove(socket) != nil { _ = control(EPOLL_CTL_DEL, socket, 0) }
            return
        }
        let isKnown = !watched.insert(socket).inserted
        if isKnown, control(EPOLL_CTL_MOD, socket, interest) == 0 { return }
        // Also if another socket of the same number was closed without a word.
        if !isKnown || errno == ENOENT, control(EPOLL_CTL_ADD, socket, interest) == 0 { return }
        failure = CurlError(errno: errno, during: "epoll_ctl")
    }

    /// Sets the timer to so many milliseconds from now; a negative number stops it.
    func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : .now.advanced(by: .milliseconds(milliseconds))
    }

    private func control(_ operation: CInt, _ descriptor: CInt, _ interest: EPOLL_EVENTS.RawValue) -> CInt {
        var event = epoll_event(events: interest, data: epoll_data_t(fd: descriptor))
        return epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: What the loop does

    /// Whether the timer has run out; this stops it then.
    func takeTimer() -> Bool {
        guard let timer, timer <= .now else { return false }
        self.timer = nil
        return true
    }

    /// Waits until a socket is ready, the signal is given, the timer runs out or the time is over.
    ///
    /// - Returns: The sockets; none for anything else.
    /// - Throws: ``CurlError`` when waiting makes no sense any more.
    func wait(atMost limit: Duration) throws(CurlError) -> [Event] {
        if let failure { throw failure }
        sendPackets()
        defer { holdPackets() }
        let untilTimer = timer.map { max(.zero, $0 - .now) } ?? limit
        let timeout = Int32(clamping: min(limit, untilTimer).milliseconds)
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout)
        guard count >= 0 else {
            if errno == EINTR { return [] }
            throw CurlError(errno: errno, during: "epoll_wait")
        }
        return events.prefix(Int(count)).compactMap { event in
            guard event.data.fd != signal.descriptor else { return nil }
            return Event(socket: event.data.fd, readiness: Self.readiness(event.events))
        }
    }

    /// Lets the kernel collect what is written from here on, so that requests which go out together share packets: each
    /// would wake the peer, who then answers one by one.
    ///
    /// Source: tcp(7), `TCP_CORK`
    private func holdPackets() {
        held.append(contentsOf: watched)
        held.forEach { Self.setCork($0, 1) }
    }

    private func sendPackets() {
        // Also those that curl has lost interest in since; some may be closed.
        held.forEach { Self.setCork($0, 0) }
        held.removeAll(keepingCapacity: true)
    }

    /// Fails for sockets that are not TCP's, which need no cork.
    private static func setCork(_ socket: CInt, _ value: CInt) {
        var value = value
        _ = setsockopt(socket, CInt(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout.size(ofValue: value)))
    }

    /// In curl's terms: what failed or ended is found out by reading or writing.
    private static func readiness(_ happened: EPOLL_EVENTS.RawValue) -> CInt {
        let ended = EPOLLERR.rawValue | EPOLLHUP.rawValue
        var readiness: CInt = 0
        if happened & (EPOLLIN.rawValue | ended) != 0 { readiness |= CURL_CSELECT_IN }
        if happened & (EPOLLOUT.rawValue | ended) != 0 { readiness |= CURL_CSELECT_OUT }
        return readiness
    }
}
