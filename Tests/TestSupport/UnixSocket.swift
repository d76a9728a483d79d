import Foundation

/// Unix sockets, for which Foundation has no calls.
///
/// Whoever makes one closes it. A call that receives from it gives up after some seconds of silence.
package enum UnixSocket {
    package enum Kind { case stream, datagram }

    /// Makes a socket file; if it is one for streams, connections to it are queued.
    package static func bound(to path: String, _ kind: Kind = .stream) throws -> Int32 {
        try socket(kind, path, patience: Wait.seconds) { descriptor, address, count in
            let result = bind(descriptor, address, count)
            return result == 0 && kind == .stream ? listen(descriptor, 8) : result
        }
    }

    /// Connects to a socket file.
    package static func connected(
        to path: String, _ kind: Kind = .stream, patience: Int = Wait.seconds
    ) throws -> Int32 {
        try socket(kind, path, patience: patience, connect)
    }

    private static func socket(
        _ kind: Kind, _ path: String, patience: Int, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
        let descriptor = Foundation.socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0,
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size)) == 0
        else {
            defer { close(descriptor) }
            throw failure()
        }
        return descriptor
    }

    private static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
