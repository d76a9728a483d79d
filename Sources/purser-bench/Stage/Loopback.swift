import Foundation

/// The loopback interface.
enum Loopback {
    /// A port that nobody listens at.
    ///
    /// - Throws: `BenchError` when the system gives none.
    static func freePort() throws(BenchError) -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw BenchError("no socket: \(String(cString: strerror(errno)))") }
        defer { close(socket) }
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(socket, generic, length) == 0 ? getsockname(socket, generic, &length) : -1
            }
        }
        guard result == 0 else { throw BenchError("no free port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// 127.0.0.1 with a port.
    static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Waits until a program listens at a port.
    ///
    /// - Throws: `BenchError` when it ends before, or takes longer than 30 s.
    static func awaitListener(at port: Int, of process: ChildProcess) async throws {
        for _ in 0..<3000 {
            if isListened(at: port) { return }
            guard process.isRunning else { throw BenchError("\(process.name) ended: \(process.lastWords)") }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw BenchError("\(process.name) does not listen: \(process.lastWords)")
    }

    private static func isListened(at port: Int) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = address(port: port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(socket, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
