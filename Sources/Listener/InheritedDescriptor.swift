import Glibc

/// A listening socket that somebody else has opened and handed over.
enum InheritedDescriptor {
    /// Holds it against what is configured.
    ///
    /// The address must be the configured one: whether tokens may come there in the clear, for example, was decided by that.
    ///
    /// - Throws: `notListening` for anything but a listening stream socket, `inheritedElsewhere` for another address.
    static func check(_ descriptor: Int32, against address: ListenerAddress) throws(ListenerError.Reason) {
        guard option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notListening }
        let bound = try self.address(of: descriptor)
        let isSame =
            switch (address, bound) {
            case (.tcp(let host, let port), .tcp(let boundHost, let boundPort)):
                ListenerAddress.isSameHost(host, boundHost) && (port == 0 || port == boundPort)
            case (.unix(let path, _), .unix(let boundPath)): path == boundPath
            default: false
            }
        guard isSame else { throw .inheritedElsewhere("\(bound)") }
    }

    /// Where a socket listens.
    ///
    /// - Throws: `notListening` when it is no socket of the families that listeners know.
    static func address(of descriptor: Int32) throws(ListenerError.Reason) -> BoundAddress {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        guard code == 0 else { throw ListenerError.Reason(errno: errno) }
        let family = Int32(storage.ss_family)
        return try withUnsafeBytes(of: &storage) { bytes throws(ListenerError.Reason) in
            switch family {
            case AF_INET:
                let address = bytes.loadUnaligned(as: sockaddr_in.self)
                return .tcp(host: text(AF_INET, address.sin_addr), port: Int(UInt16(bigEndian: address.sin_port)))
            case AF_INET6:
                let address = bytes.loadUnaligned(as: sockaddr_in6.self)
                return .tcp(host: text(AF_INET6, address.sin6_addr), port: Int(UInt16(bigEndian: address.sin6_port)))
            case AF_UNIX:
                let path = bytes[MemoryLayout<sa_family_t>.size..<Int(length)].prefix { $0 != 0 }
                // One without a path is abstract, and every program of the machine may connect to it.
                guard !path.isEmpty else { throw .notListening }
                return .unix(path: String(decoding: path, as: UTF8.self))
            default: throw .notListening
            }
        }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// An IP address in its usual spelling.
    ///
    /// Source: inet_ntop(3)
    private static func text<Address>(_ family: Int32, _ address: Address) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let length = socklen_t(text.count)
        // It fails only for other families and less room.
        _ = withUnsafePointer(to: address) { inet_ntop(family, $0, &text, length) }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
