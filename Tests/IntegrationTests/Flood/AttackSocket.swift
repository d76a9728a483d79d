import Foundation

/// A socket of an attacker's, which may come from any address of the loopback interface.
struct AttackSocket: Sendable {
    /// What has come in.
    enum Received {
        case nothing
        case bytes(Int)
        case end
    }

    let descriptor: Int32

    /// Begins to connect, without waiting.
    ///
    /// `port`: on 127.0.0.1; `source`: the address to come from, such as `127.0.0.2` (ip(7)); `receiveBuffer`: how many bytes the
    /// kernel takes in that nobody reads, nil for as many as it likes.
    init?(to port: Int, from source: String, receiveBuffer: Int32? = nil) {
        descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        let isBegun =
            Self.withAddress(source, port: 0) { bind(descriptor, $0, $1) } == 0
            && (Self.withAddress("127.0.0.1", port: port) { connect(descriptor, $0, $1) } == 0
                || errno == EINPROGRESS)
        guard isBegun else {
            Foundation.close(descriptor)
            return nil
        }
    }

    /// Sends as much as the kernel takes at once; nil when the connection has ended.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes {
            Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        return [EAGAIN, EINPROGRESS, ENOTCONN].contains(errno) ? 0 : nil
    }

    /// Takes what has come in.
    func receive(into buffer: inout [UInt8]) -> Received {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count < 0 && [EAGAIN, ENOTCONN].contains(errno) ? .nothing : .end
    }

    /// Ends the connection with a reset, which leaves no port waiting.
    func close() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        Foundation.close(descriptor)
    }

    private static func withAddress(
        _ host: String, port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
