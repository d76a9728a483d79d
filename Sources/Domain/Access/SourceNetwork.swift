import Glibc

/// The network that counts as one source wherever what comes from an address is counted or bounded.
///
/// An IPv4 address stands for itself. Whoever has an IPv6 address has all that share its first 64 bits, so that counting them
/// one by one would bound nothing.
///
/// Source: RFC 4291 section 2.5.4, RFC 6177 section 2
package enum SourceNetwork {
    private static let prefixBytes = 8

    /// The name under which an address is counted, such as `192.0.2.1` or `2001:db8:0:1::/64`.
    ///
    /// What is no address, such as that of a Unix socket, stands for itself.
    package static func name(of address: String) -> String {
        guard let bytes = bytes(of: address) else { return address }
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: prefixBytes, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }

    /// The bytes of an address: 4, or 16; one of IPv4 mapped into IPv6 is one of IPv4.
    ///
    /// Source: RFC 4291 section 2.5.5.2
    package static func bytes(of address: String) -> [UInt8]? {
        guard let bytes = writtenBytes(of: address) else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : bytes
    }

    /// The bytes of an address as it is written: 4, or 16.
    package static func writtenBytes(of address: String) -> [UInt8]? {
        // C would read no further.
        guard address.utf8.count <= IPAddress.maximumLength, !address.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, address, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, address, &bytes) == 1 ? bytes : nil
    }
}
