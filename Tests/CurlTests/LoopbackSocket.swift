import Glibc

/// A bare TCP socket on a loopback port, which never answers: connections are refused, or taken by the kernel and left alone.
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

    private struct SocketFailure: Error {
        let number: CInt
    }
}
