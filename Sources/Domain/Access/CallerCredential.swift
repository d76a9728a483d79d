package import Foundation

/// What of a connection stands for a caller: no secret, but what the connection itself proves (`PeerIdentity`).
package enum CallerBinding: Sendable, Hashable {
    /// A URI among the subject alternative names of a client certificate, such as a SPIFFE ID; compared byte for byte.
    case certificate(uri: String)
    /// The effective user id of a process at the other end of a Unix socket.
    case uid(UInt32)
    /// Its effective group id.
    case gid(UInt32)

    package enum Kind: String, Sendable, CaseIterable {
        case certificate, uid, gid
    }

    package var kind: Kind {
        switch self {
        case .certificate: .certificate
        case .uid: .uid
        case .gid: .gid
        }
    }

    /// The URI or the number.
    package var value: String {
        switch self {
        case .certificate(let uri): uri
        case .uid(let id), .gid(let id): "\(id)"
        }
    }

    /// A binding by its words; nil where the value is none of its kind.
    package init?(_ kind: Kind, _ value: String) {
        switch kind {
        case .certificate:
            guard Self.isURI(value) else { return nil }
            self = .certificate(uri: value)
        case .uid, .gid:
            // The last one means "none" to the kernel.
            guard let number = UInt32(value), "\(number)" == value, number < .max else { return nil }
            self = kind == .uid ? .uid(number) : .gid(number)
        }
    }

    /// The longest URI, in bytes: that of a SPIFFE ID.
    ///
    /// Source: SPIFFE-ID, section 2.3
    private static let maximumURIBytes = 2048

    /// Whether a text is an absolute URI (RFC 3986, section 3) by its looks: a scheme, a colon, and no space or control behind.
    private static func isURI(_ text: String) -> Bool {
        guard text.utf8.count <= maximumURIBytes, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            let first = text.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic
        else { return false }
        let isScheme = text.utf8[..<colon].allSatisfy { byte in
            let scalar = Unicode.Scalar(byte)
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "+-.".unicodeScalars.contains(scalar)
        }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        return isScheme && !rest.isEmpty && rest.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// By what a caller has proved who it is, in words that are no secret.
package enum CallerCredential: Sendable, Hashable {
    case token(id: String)
    case key(id: String)
    case binding(CallerBinding)

    /// As the store keeps it and logs show it, such as `token:Ab12Cd34` or `uid:1000`.
    package var text: String {
        switch self {
        case .token(let id): "token:\(id)"
        case .key(let id): "key:\(id)"
        case .binding(let binding): "\(binding.kind.rawValue):\(binding.value)"
        }
    }

    /// A credential by its text.
    package init?(text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "token": self = .token(id: value)
        case "key": self = .key(id: value)
        default:
            guard let kind = CallerBinding.Kind(rawValue: String(text[..<colon])),
                let binding = CallerBinding(kind, value)
            else { return nil }
            self = .binding(binding)
        }
    }
}

/// When a caller last used one of its credentials, to about a minute.
package struct CallerUse: Sendable, Hashable {
    package let caller: String
    package let credential: CallerCredential
    package let lastUsedAt: Date

    package init(caller: String, credential: CallerCredential, lastUsedAt: Date) {
        self.caller = caller
        self.credential = credential
        self.lastUsedAt = lastUsedAt
    }
}
