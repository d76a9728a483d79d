import Foundation

/// One way in which a client breaks a connection.
struct BrokenConnection: Sendable, CustomStringConvertible {
    /// What the client does after it has sent all bytes.
    enum Ending: Sendable {
        /// Closes the connection with FIN.
        case close
        /// Resets the connection, often before the server has accepted it.
        case resetAtOnce
        /// Resets the connection after 20 ms.
        case reset
        /// Resets the connection once the server has sent something.
        case answered
        /// Resets the connection once the server has sent the last eight bytes back, as it does with the content of PING.
        case echoed
        /// Reads until the server closes the connection.
        case waits

        /// The time after which the client resets the connection in any case.
        fileprivate var patience: Duration {
            switch self {
            case .close, .resetAtOnce: .zero
            case .reset: .milliseconds(20)
            case .answered, .echoed, .waits: .seconds(10)
            }
        }
    }

    let name: String
    let bytes: [UInt8]
    let ending: Ending

    var description: String { name }

    init(_ name: String, _ bytes: [UInt8], _ ending: Ending) {
        self.name = name
        self.bytes = bytes
        self.ending = ending
    }
}

/// Opens many broken connections on a separate thread.
struct BrokenConnections: Sendable {
    let kind: BrokenConnection
    let port: Int
    /// What the listener answers in any case.
    let question: [UInt8]
    /// The number of connections that are open at the same time.
    var atOnce = 32

    /// Many addresses: each port of a connection that was closed with FIN stays in use for a minute.
    private static let sources = (2..<66).map { "127.0.0.\($0)" }

    private struct Open {
        let socket: AttackSocket
        var rest: ArraySlice<UInt8>
        /// The last eight bytes that were received.
        var received: [UInt8] = []
        let start = ContinuousClock.now
    }

    /// Opens this many connections and returns when the server has accepted all of them and the client has closed them.
    ///
    /// - Returns: the number of connections that the server closed.
    func open(_ count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: run(count)) }
        }
    }

    private func run(_ count: Int) -> Int {
        var open: [Open] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var (opened, closed) = (0, 0)
        while opened < count || !open.isEmpty {
            while opened < count, open.count < atOnce,
                let socket = AttackSocket(to: port, from: Self.sources[opened % Self.sources.count])
            {
                open.append(Open(socket: socket, rest: kind.bytes[...]))
                opened += 1
            }
            var polled = open.map { connection in
                let isSent = connection.rest.isEmpty && !kind.bytes.isEmpty
                return pollfd(fd: connection.socket.descriptor, events: Int16(isSent ? POLLIN : POLLOUT), revents: 0)
            }
            poll(&polled, nfds_t(polled.count), 5)
            let now = ContinuousClock.now
            var left: [Open] = []
            for (connection, polled) in zip(open, polled) {
                switch turn(connection, Int32(polled.revents), now, &buffer) {
                case .open(let connection): left.append(connection)
                case .ended(let byServer): closed += byServer ? 1 : 0
                }
            }
            open = left
        }
        waitForAnswer()
        return closed
    }

    /// Waits until the server has accepted one more connection: it accepts them in the order in which they were opened.
    private func waitForAnswer() {
        guard let socket = AttackSocket(to: port, from: Self.sources[0]) else { return }
        var rest = question[...]
        while true {
            var polled = pollfd(
                fd: socket.descriptor, events: Int16(POLLIN | (rest.isEmpty ? 0 : POLLOUT)), revents: 0)
            poll(&polled, 1, -1)
            if Int32(polled.revents) & POLLOUT != 0, let count = socket.send(rest) { rest = rest.dropFirst(count) }
            guard Int32(polled.revents) & (POLLIN | POLLERR | POLLHUP) == 0 else { break }
        }
        socket.close()
    }

    private enum Turn {
        case open(Open)
        case ended(byServer: Bool)
    }

    /// Sends and receives on one connection, and closes it when its kind says so.
    private func turn(
        _ connection: Open, _ events: Int32, _ now: ContinuousClock.Instant, _ buffer: inout [UInt8]
    ) -> Turn {
        var connection = connection
        if events & POLLOUT != 0, !connection.rest.isEmpty {
            guard let count = connection.socket.send(connection.rest) else { return end(connection, byServer: true) }
            connection.rest = connection.rest.dropFirst(count)
        }
        let isSent = connection.rest.isEmpty && (events & POLLOUT != 0 || !kind.bytes.isEmpty)
        if events & (POLLIN | POLLERR | POLLHUP) != 0 {
            switch connection.socket.receive(into: &buffer) {
            case .nothing: break
            case .end: return end(connection, byServer: true)
            case .bytes(let count):
                connection.received = (connection.received + buffer[..<count]).suffix(8)
                let isEchoed = kind.ending == .echoed && connection.received.elementsEqual(kind.bytes.suffix(8))
                if isEchoed || kind.ending == .answered { return end(connection, byServer: false) }
            }
        }
        if isSent, now - connection.start > kind.ending.patience { return end(connection, byServer: false) }
        return .open(connection)
    }

    private func end(_ connection: Open, byServer: Bool) -> Turn {
        if kind.ending == .close { connection.socket.finish() } else { connection.socket.close() }
        return .ended(byServer: byServer)
    }
}

extension AttackSocket {
    /// Closes the connection with FIN.
    fileprivate func finish() { Foundation.close(descriptor) }
}
