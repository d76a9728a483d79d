/// One network of the Internet Protocol, such as `10.0.0.0/8` or `fd00::/8`; an address alone is a network of one.
package struct IPNetwork: Sendable, Hashable {
    /// The longest text that can be one, in bytes: an address, a slash and three digits.
    private static let maximumLength = IPAddress.maximumLength + 4

    private let address: [UInt8]
    private let prefixLength: Int

    /// Nil for a text that is no network, or one with bits behind its prefix.
    ///
    /// Source: RFC 4632 section 3.1, RFC 4291 section 2.3
    package init?(_ text: String) {
        self.init(text, bytes: SourceNetwork.bytes)
    }

    /// A network of ours, whose address is not read as IPv4 where it is mapped into IPv6.
    init?(literal text: String) { self.init(text, bytes: SourceNetwork.writtenBytes) }

    private init?(_ text: String, bytes: (String) -> [UInt8]?) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = bytes(String(parts[0])) else { return nil }
        var length = address.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                let given = Int(parts[1]), given <= length
            else { return nil }
            length = given
        }
        self.address = address
        prefixLength = length
        let isMasked = (length..<address.count * 8).allSatisfy { Self.bit($0, of: address) == 0 }
        guard isMasked else { return nil }
    }

    /// Whether an address is of it: 4 bytes, or 16.
    package func contains(_ other: [UInt8]) -> Bool {
        other.count == address.count
            && (0..<prefixLength).allSatisfy { Self.bit($0, of: other) == Self.bit($0, of: address) }
    }

    private static func bit(_ index: Int, of bytes: [UInt8]) -> UInt8 { bytes[index / 8] >> (7 - index % 8) & 1 }
}
