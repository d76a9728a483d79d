import Foundation

/// Stands for the service manager: hears when a daemon says that it is ready.
///
/// Source: sd_notify(3)
final class ReadySocket: Sendable {
    private let descriptor: Int32
    /// What `NOTIFY_SOCKET` must say; the name is an abstract one (unix(7)), which needs no file.
    let address: String

    /// - Throws: `BenchError` when the system gives no socket.
    init() throws(BenchError) {
        let name = "purser-bench-\(UUID().uuidString)"
        address = "@" + name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 0, tv_usec: 100_000)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.utf8.enumerated() { path[index + 1] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard descriptor >= 0, result == 0,
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size)) == 0
        else { throw BenchError("no socket for READY=1: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Waits for `READY=1`.
    ///
    /// - Returns: when it came; nil when the process ended without it.
    func ready(of process: ChildProcess) async -> ContinuousClock.Instant? {
        await withCheckedContinuation { continuation in
            // The thread waits in the kernel, which no thread of the pool may do.
            Thread { [self] in continuation.resume(returning: readyNow(of: process)) }.start()
        }
    }

    private func readyNow(of process: ChildProcess) -> ContinuousClock.Instant? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while process.isRunning {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            let instant = ContinuousClock.now
            // Nothing within the timeout: look again whether anybody is left to say it.
            guard count > 0 else { continue }
            let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
            if lines.contains("READY=1") { return instant }
        }
        return nil
    }
}
