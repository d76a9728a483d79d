/// The networks that no receiver of callbacks has an address in: everything but the public Internet.
///
/// Source: RFC 6890 and RFC 8190; the IANA registries that they define, iana-ipv4-special-registry and
/// iana-ipv6-special-registry (2025-10-09); the multicast and reserved networks of RFC 5771, RFC 1112 and RFC 4291. A network that
/// contains others of the registries stands for all of them. Networks that the registries call globally reachable, such as those of
/// AS112, are listed too: they have servers of one protocol only, which is not HTTPS.
package enum SpecialPurposeNetworks {
    /// A network, with what it is for.
    package struct Row: Sendable {
        /// In CIDR notation.
        package let text: String
        package let purpose: String
        package let rfc: Int
        let network: IPNetwork
    }

    /// All of them.
    package static let rows: [Row] = (ipv4 + ipv6).compactMap { text, purpose, rfc in
        IPNetwork(literal: text).map { Row(text: text, purpose: purpose, rfc: rfc, network: $0) }
    }

    private static let ipv4: [(String, String, Int)] = [
        ("0.0.0.0/8", "this network", 1122),
        ("10.0.0.0/8", "private use", 1918),
        ("100.64.0.0/10", "shared address space", 6598),
        ("127.0.0.0/8", "loopback", 1122),
        ("169.254.0.0/16", "link-local", 3927),
        ("172.16.0.0/12", "private use", 1918),
        ("192.0.0.0/24", "IETF protocol assignments", 6890),
        ("192.0.2.0/24", "documentation", 5737),
        ("192.31.196.0/24", "AS112", 7535),
        ("192.52.193.0/24", "automatic multicast tunneling", 7450),
        ("192.88.99.0/24", "6to4 relay anycast, deprecated", 7526),
        ("192.168.0.0/16", "private use", 1918),
        ("192.175.48.0/24", "AS112, direct delegation", 7534),
        ("198.18.0.0/15", "benchmarking", 2544),
        ("198.51.100.0/24", "documentation", 5737),
        ("203.0.113.0/24", "documentation", 5737),
        ("224.0.0.0/4", "multicast", 5771),
        ("240.0.0.0/4", "reserved, and limited broadcast", 1112),
    ]

    private static let ipv6: [(String, String, Int)] = [
        ("::/128", "unspecified", 4291),
        ("::1/128", "loopback", 4291),
        ("::/96", "IPv4-compatible, deprecated", 4291),
        ("::ffff:0:0/96", "IPv4-mapped", 4291),
        ("::ffff:0:0:0/96", "IPv4-translated", 2765),
        ("64:ff9b:1::/48", "IPv4/IPv6 translation, local use", 8215),
        ("100::/64", "discard only", 6666),
        ("100:0:0:1::/64", "dummy prefix", 9780),
        ("2001::/23", "IETF protocol assignments", 2928),
        ("2001::/32", "Teredo", 4380),
        ("2001:db8::/32", "documentation", 3849),
        ("2002::/16", "6to4", 3056),
        ("2620:4f:8000::/48", "AS112, direct delegation", 7534),
        ("3fff::/20", "documentation", 9637),
        ("5f00::/16", "segment routing", 9602),
        ("fc00::/7", "unique local", 4193),
        ("fe80::/10", "link-local", 4291),
        ("fec0::/10", "site-local, deprecated", 3879),
        ("ff00::/8", "multicast", 4291),
    ]

    /// The first 12 bytes of addresses of NAT64's well-known prefix, `64:ff9b::/96` (RFC 6052 section 2.1).
    private static let nat64: [UInt8] = [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    /// The first 4 bytes of an interface identifier of ISATAP, whose last 4 are an IPv4 address (RFC 5214 section 6.1): of a private
    /// address, and of a globally unique one.
    private static let isatap: [[UInt8]] = [[0x00, 0x00, 0x5E, 0xFE], [0x02, 0x00, 0x5E, 0xFE]]

    /// Whether an address, of 4 or 16 bytes, is of the public Internet.
    ///
    /// Of the IPv6 addresses that contain an IPv4 address, only those of NAT64's well-known prefix can be: a cluster without IPv4
    /// reaches all IPv4 servers through it. They are judged by the IPv4 address within. All other forms are refused whatever they
    /// contain. The prefix of a network's own NAT64 cannot be recognized (RFC 6052 section 2.2).
    package static func isPublic(_ address: [UInt8]) -> Bool {
        guard address.count == 4 || address.count == 16, !rows.contains(where: { $0.network.contains(address) }) else {
            return false
        }
        guard address.count == 16 else { return true }
        if isatap.contains(where: { address[8..<12].elementsEqual($0) }) { return false }
        return address[..<12].elementsEqual(nat64) ? isPublic(Array(address[12...])) : true
    }
}
