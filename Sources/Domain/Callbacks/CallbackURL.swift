/// Where a callback posts: an absolute `https` URL.
package struct CallbackURL: Sendable, Equatable {
    /// The longest one, in bytes.
    package static let maximumBytes = 2000

    package let text: String
    /// The name or address of the server, in lower case.
    package let host: String

    private static let scheme = "https://"

    /// Nil for any text but an `https` URL with a host, without user, password and fragment, and in characters of which no two
    /// readers could make different hosts.
    ///
    /// Source: RFC 3986 section 2 and 3.2
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.lowercased().hasPrefix(Self.scheme),
            text.utf8.allSatisfy(Self.isPlain)
        else { return nil }
        let authority = text.dropFirst(Self.scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(of: authority) else { return nil }
        self.text = text
        self.host = host
    }

    private static func host(of authority: Substring) -> String? {
        guard authority.utf8.allSatisfy(isOfAuthority) else { return nil }
        let name: Substring
        let port: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
            guard SourceNetwork.bytes(of: String(name)) != nil else { return nil }
        } else {
            name = authority.prefix { $0 != ":" }
            port = authority[name.endIndex...]
        }
        if !port.isEmpty {
            guard port.first == ":", let number = Int(port.dropFirst()), (1...65_535).contains(number) else {
                return nil
            }
        }
        // A final dot names the same host.
        let plain = name.lowercased().hasSuffix(".") ? name.dropLast() : name
        return plain.isEmpty ? nil : plain.lowercased()
    }

    /// What may stand in a URL without a fragment.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte < 0x7F && !"#\"<>\\^`{|}".utf8.contains(byte)
    }

    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }
}

/// Which servers callbacks may post to: the configuration's word.
package struct CallbackPolicy: Sendable, Equatable {
    /// Names of hosts: whole, `*.example.com` for all below one, or `*` for any; none by default.
    package var allowedHosts: [String] = []
    /// Networks that are none of the public Internet and that callbacks may reach all the same.
    package var allowedNetworks: [IPNetwork] = []
    /// How long the receiver has to answer.
    package var timeout: Duration = .seconds(10)

    package init() {}

    /// Whether a URL's host is one of those.
    package func admits(_ url: CallbackURL) -> Bool {
        allowedHosts.contains { pattern in
            if pattern == "*" { return true }
            guard pattern.hasPrefix("*.") else { return url.host == pattern }
            return url.host.hasSuffix(pattern.dropFirst()) && url.host.count > pattern.count - 1
        }
    }

    /// Whether a connection to an address, of 4 or 16 bytes, may be opened: asked about the one that is really connected to.
    ///
    /// An address is admitted if it is of the public Internet (``SpecialPurposeNetworks``), or of an allowed network. An
    /// IPv4-mapped address is of an allowed network if its IPv4 address is, as the kernel connects to that one.
    package func admits(address: [UInt8]) -> Bool {
        let connected = Self.unmapped(address)
        return allowedNetworks.contains { $0.contains(connected) } || SpecialPurposeNetworks.isPublic(address)
    }

    /// The IPv4 address that is mapped into an IPv6 address (RFC 4291 section 2.5.5.2); any other as it is.
    private static func unmapped(_ address: [UInt8]) -> [UInt8] {
        guard address.count == 16, address[..<10].allSatisfy({ $0 == 0 }), address[10] == 0xFF, address[11] == 0xFF
        else { return address }
        return Array(address[12...])
    }
}
