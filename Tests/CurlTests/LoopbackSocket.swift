import Foundation
import Glibc

/// A bare TCP socket on a loopback port, which never answers: connections are refused, or taken by the kernel and left
/// alone.
struct LoopbackSocket: ~Copyable {
    let port: Int
    private let descriptor: CInt

    /// Binds a port.
    ///
    /// - Parameter isListening: Whether connections are taken.
    /// - Throws: The system's error number.
    init(isListening: Bool) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SocketFailure(number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
        guard isReady, !isListening || listen(descriptor, 16) == 0 else {
            defer { close(descriptor) }
            throw SocketFailure(number: errno)
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// This process's sockets with this port at their other end.
    static func descriptors(connectedTo port: Int) -> [CInt] {
        // Thousands of sockets may be open, of tests that run beside this one.
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return all.compactMap { CInt($0) }.filter { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
                getpeername(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0
            }
            return isConnected && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }

    /// The value of a socket's option, or nil if it has none.
    static func option(_ name: CInt, _ level: CInt, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : nil
    }

    private struct SocketFailure: Error {
        let number: CInt
    }
}
