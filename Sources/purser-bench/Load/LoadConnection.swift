import Foundation

/// One connection of a `LoadSender`: one request at a time, and as much of HTTP/1.1 as our answers need.
struct LoadConnection {
    /// What came in.
    enum Event {
        case nothing
        /// A whole answer with this status.
        case answer(Int)
        case closed
    }

    let descriptor: Int32
    private(set) var sentAt = ContinuousClock.now
    /// Whether a request is out that has no answer yet.
    private(set) var isWaiting = false
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// Connects.
    ///
    /// - Parameter port: of the loopback interface.
    /// - Throws: `BenchError`
    init(to port: Int) throws(BenchError) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("socket") }
        var address = Loopback.address(port: port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var enabled: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard connected == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled, length) == 0
        else { throw Self.failure("connect") }
    }

    /// What the last system call says.
    static func failure(_ operation: String) -> BenchError {
        BenchError("\(operation): \(String(cString: strerror(errno)))")
    }

    /// Sends a request, which must fit into the socket's buffer.
    ///
    /// - Throws: `BenchError` when it does not; a connection that is gone is told of by `receive`.
    mutating func send(_ request: [UInt8], at now: ContinuousClock.Instant) throws(BenchError) {
        sentAt = now
        isWaiting = true
        received.removeAll(keepingCapacity: true)
        let count = Foundation.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        guard count == request.count || count < 0 && [EPIPE, ECONNRESET].contains(errno) else {
            throw Self.failure("send")
        }
    }

    /// Takes what has come in.
    ///
    /// - Throws: `BenchError` for an answer that is none.
    mutating func receive() throws(BenchError) -> Event {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { return .nothing }
        guard count > 0 else { return .closed }
        received.append(contentsOf: buffer[..<count])
        guard let head = try Self.head(of: received) else { return .nothing }
        guard received.count >= head.count + head.contentLength else { return .nothing }
        isWaiting = false
        return .answer(head.status)
    }

    /// Status and lengths of an answer, once its head is there.
    private static func head(
        of bytes: [UInt8]
    ) throws(BenchError) -> (status: Int, count: Int, contentLength: Int)? {
        var end = 3
        while end < bytes.count, bytes[end] != 10 || bytes[end - 1] != 13 || bytes[end - 2] != 10 { end += 1 }
        guard end < bytes.count else { return nil }
        let text = String(decoding: bytes[...end], as: UTF8.self).lowercased()
        guard let status = Int(text.dropFirst(9).prefix(3)), !text.contains("\r\ntransfer-encoding:") else {
            throw BenchError("an answer that cannot be read: \(text.prefix(80))")
        }
        let field = text.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        let length = field.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        return (status, end + 1, length ?? 0)
    }
}
