package import Domain
package import HTTPTypes

/// The proxies of a listener whose word about where a request came from is taken: networks in CIDR notation.
///
/// None by default, as anybody can send the field `X-Forwarded-For`.
package struct TrustedProxies: Sendable, Equatable {
    package typealias Network = IPNetwork

    /// The longest address with its port and what proxies write around it, in bytes.
    private static let maximumHopBytes = 128

    private let networks: [Network]

    package init(_ networks: [Network] = []) { self.networks = networks }

    package var isEmpty: Bool { networks.isEmpty }

    /// Where a request came from, by its head and the address of its connection.
    package func source(of request: HTTPRequest, from peer: String?) -> String? {
        source(
            peer: peer, forwarded: RequestHeaders(request.headerFields, trustsProxy: !isEmpty)[values: .xForwardedFor])
    }

    /// Where a request came from: the last address on its way that is none of these proxies'.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection; nil on a Unix socket.
    ///   - forwarded: what the fields `X-Forwarded-For` say, in their order.
    /// - Returns: an IPv4 or IPv6 address; nil where nobody who is trusted tells.
    func source(peer: String?, forwarded: [String]) -> String? {
        guard var address = peer.flatMap({ Self.plain(Substring($0)) }), isTrusted(address) else {
            return peer.flatMap { Self.plain(Substring($0)) }
        }
        let comma = UInt8(ascii: ",")
        var hops = forwarded.flatMap { $0.utf8.split(separator: comma, omittingEmptySubsequences: false) }[...]
        while isTrusted(address), let hop = hops.popLast() {
            // A trusted proxy says so where it does not know.
            guard let next = Self.plain(Substring(hop)) else { return nil }
            address = next
        }
        return address
    }

    private func isTrusted(_ address: String) -> Bool {
        guard !networks.isEmpty, let bytes = SourceNetwork.bytes(of: address) else { return false }
        return networks.contains { $0.contains(bytes) }
    }

    /// An address without what proxies write beside it: spaces, a port, the brackets of IPv6.
    ///
    /// One of IPv4 that is mapped into IPv6, as sockets for both show it, is written as one of IPv4.
    private static func plain(_ text: Substring) -> String? {
        let text = HeaderText.trim(text)
        guard text.utf8.count <= maximumHopBytes, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var address = text.filter { $0 != " " && $0 != "\t" }[...]
        if address.first == "[" {
            guard let end = address.firstIndex(of: "]") else { return nil }
            address = address[address.index(after: address.startIndex)..<end]
        } else if let colon = address.firstIndex(of: ":"), address.lastIndex(of: ":") == colon {
            address = address[..<colon]
        }
        guard let bytes = SourceNetwork.bytes(of: String(address)) else { return nil }
        return bytes.count == 4 ? bytes.map(String.init).joined(separator: ".") : address.lowercased()
    }
}
