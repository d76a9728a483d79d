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

    /// The beginning of the last answer's content, to tell why it is no success.
    var content: String {
        guard let head = try? Self.head(of: received) else { return "" }
        return String(decoding: received.dropFirst(head.count).prefix(300), as: UTF8.self)
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

/// Complete HTTP/1.1 requests in a file, each after its length: made before the clock runs, sent by `LoadProbe`.
enum RequestFile {
    /// Writes requests to a new file.
    ///
    /// - Throws: errors of the file system.
    static func write(_ requests: some Sequence<[UInt8]>, to url: URL) throws {
        var bytes = Data()
        for request in requests {
            withUnsafeBytes(of: UInt32(request.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: request)
        }
        try bytes.write(to: url)
    }

    /// Reads what `write` wrote.
    ///
    /// - Throws: errors of the file system, `BenchError` when it is something else.
    static func read(_ path: String) throws -> [[UInt8]] {
        let bytes = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        var requests: [[UInt8]] = []
        var position = 0
        while position + 4 <= bytes.count {
            let count = (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
            position += 4
            guard position + count <= bytes.count else { throw BenchError("\(path) is cut off") }
            requests.append([UInt8](bytes[position..<position + count]))
            position += count
        }
        guard !requests.isEmpty else { throw BenchError("\(path) holds no request") }
        return requests
    }

    /// A request as it goes out.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: the path with its query.
    ///   - headers: fields besides `Host` and `Content-Length`.
    ///   - body: the content, nil for none.
    /// - Returns: its bytes.
    static func request(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + (body ?? [])
    }
}
