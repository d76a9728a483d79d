import Glibc

/// Where a listener listens.
package enum ListenerAddress: Sendable, Equatable {
    /// A TCP port; `host` is an IPv4 or IPv6 address without brackets, and port 0 any free one.
    case tcp(host: String, port: Int)

    /// A Unix domain stream socket; `mode` are the permission bits of its file.
    case unix(path: String, mode: UInt16)

    /// The most bytes of a Unix socket's path: the kernel's 108 less the closing NUL.
    ///
    /// Source: unix(7)
    package static let maximumPathBytes = 107

    /// Parses the form that configuration files use: `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/name.sock`.
    ///
    /// Host names are refused: one can stand for several addresses, and whether it is safe to listen there would depend
    /// on who answers for it.
    ///
    /// - Parameters:
    ///   - text: the address.
    ///   - mode: the permission bits when it is a Unix socket.
    /// - Throws: what is wrong with the text.
    package init(_ text: String, mode: UInt16 = 0o600) throws(ListenerAddressError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            if let problem = Self.problem(path: path, mode: mode) { throw ListenerAddressError(text, problem) }
            self = .unix(path: path, mode: mode)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { throw ListenerAddressError(text, .noPort) }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits) else {
            throw ListenerAddressError(text, .badPort)
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ListenerAddressError(text, .noBrackets)
        }
        guard Self.bytes(ofIPAddress: String(host)) != nil else { throw ListenerAddressError(text, .notAnIPAddress) }
        self = .tcp(host: String(host), port: Int(port))
    }

    /// Whether it is a Unix socket.
    package var isUnix: Bool {
        if case .unix = self { true } else { false }
    }

    /// Whether only programs on this machine can connect: a Unix socket or a loopback address.
    package var isLocal: Bool {
        guard case .tcp(let host, _) = self else { return true }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
        guard let bytes = Self.bytes(ofIPAddress: host) else { return false }
        if bytes.count == 16 && !bytes.starts(with: mapped) { return bytes == Array(repeating: 0, count: 15) + [1] }
        return bytes.suffix(4).first == 127
    }

    /// Whether two texts are the same IP address, however they write it.
    static func isSameHost(_ text: String, _ other: String) -> Bool {
        guard let bytes = bytes(ofIPAddress: text) else { return false }
        return bytes == Self.bytes(ofIPAddress: other)
    }

    /// The 4 bytes of an IPv4 address or the 16 of an IPv6 address.
    ///
    /// Source: inet_pton(3)
    private static func bytes(ofIPAddress text: String) -> [UInt8]? {
        guard !text.utf8.contains(0) else { return nil }
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    private static func problem(path: String, mode: UInt16) -> ListenerAddressError.Problem? {
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else { return .notAnAbsolutePath }
        guard path.utf8.count <= maximumPathBytes else { return .pathTooLong }
        return mode <= 0o777 ? nil : .badMode
    }
}

extension ListenerAddress: CustomStringConvertible {
    /// The address in the form that ``init(_:mode:)`` parses.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _): "unix:\(path)"
        }
    }
}

/// The text of an address cannot be understood.
package struct ListenerAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with the text.
    package enum Problem: String, Sendable {
        case noPort = "it has no port; write ADDRESS:PORT, as in 127.0.0.1:8080, or unix:/PATH"
        case badPort = "what follows the last colon is not a port from 0 to 65535"
        case noBrackets = "an IPv6 address stands in brackets, as in [::1]:8080"
        case notAnIPAddress = "what precedes the port is not an IP address; names are not looked up"
        case notAnAbsolutePath = "after unix: there must be the absolute path of a file"
        case pathTooLong = "the path of a Unix socket has at most 107 bytes"
        case badMode = "the mode of a Unix socket has no bits but 0777"
    }

    /// The text as it was given.
    package let text: String

    /// What is wrong with it.
    package let problem: Problem

    package var description: String { "\"\(text)\" is no address to listen on: \(problem.rawValue)" }

    init(_ text: String, _ problem: Problem) {
        self.text = text
        self.problem = problem
    }
}

/// Where a listener really listens.
package enum BoundAddress: Sendable, Equatable {
    /// A TCP port; when any free one was asked for, this is the one that was found.
    case tcp(host: String, port: Int)

    /// A Unix domain stream socket.
    case unix(path: String)
}

extension BoundAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): ListenerAddress.tcp(host: host, port: port).description
        case .unix(let path): "unix:\(path)"
        }
    }
}
