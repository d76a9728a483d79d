import Glibc

/// Who asks, and how that was proved.
package struct AuthenticatedCaller: Sendable {
    package let caller: Caller
    package let credential: CallerCredential
    /// The one app that the credential is for; nil where it is for all that the caller has scopes for.
    package let app: App?

    package init(caller: Caller, credential: CallerCredential, app: App? = nil) {
        self.caller = caller
        self.credential = credential
        self.app = app
    }
}

/// What a request came with to prove who asks.
package struct PresentedCredentials: Sendable {
    /// The field `Authorization` as it came; nil where there is none.
    package let authorization: String?
    /// What the connection proves.
    package let peer: PeerIdentity

    package init(authorization: String?, peer: PeerIdentity = PeerIdentity()) {
        self.authorization = authorization
        self.peer = peer
    }

    /// The token of the field (RFC 6750, section 2.1), in the memory of the field; nil for any other scheme.
    var bearerToken: Substring? {
        guard let parts = authorization?.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1), parts.count == 2,
            Substring(parts[0]).lowercased() == "bearer"
        else { return nil }
        return Substring(parts[1])
    }
}

/// Finds out which caller a request comes from, whatever way it came in.
///
/// What is said counts before what the connection shows: a field `Authorization` alone decides, and a wrong one is refused
/// whatever else there is. Without it a client certificate decides, and without that the process at the other end of a Unix
/// socket: first its user, then its group. Nothing falls back on anything: a certificate that stands for nobody is refused
/// though the user might stand for somebody.
package struct CallerResolver: Sendable {
    /// Why nobody was found.
    package struct Refusal: Error, Sendable {
        /// For the log, without any secret.
        package let cause: String
        /// Whom the credential claims to be of, where it names something that could exist: `token:…`, `key:…`; for the
        /// throttle alone.
        package let claim: String?

        package init(cause: String, claim: String?) {
            self.cause = cause
            self.claim = claim
        }
    }

    private let registry: CallerRegistry
    private let tokens: CallerTokenChecker
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let now: WallClock

    /// - Parameters:
    ///   - registry: who is who.
    ///   - tokens: checks JWTs that callers sign.
    ///   - digest: SHA-256; what cannot be computed is empty and matches nothing.
    ///   - now: the time of day.
    package init(
        registry: CallerRegistry, tokens: CallerTokenChecker, digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        now: @escaping WallClock
    ) {
        self.registry = registry
        self.tokens = tokens
        self.digest = digest
        self.now = now
    }

    /// Whether there is anybody at all who could be found.
    package var knowsNobody: Bool { registry.read(\.isEmpty) }

    /// The caller.
    package func resolve(_ presented: PresentedCredentials) throws(Refusal) -> AuthenticatedCaller {
        let found = try find(presented)
        registry.noteUse(of: found.credential, by: found.caller.name, at: now())
        return found
    }

    /// What tells whether credentials may have ended: while it is the same, none has by an act of an operator.
    package var version: UInt64 { registry.version }

    /// Whether what a caller proved itself by is still its own: not revoked, expired or given to another since.
    package func stillStands(_ found: AuthenticatedCaller) -> Bool {
        let now = now()
        return registry.read { $0.stands(found.credential, of: found.caller.name, at: now) }
    }

    private func find(_ presented: PresentedCredentials) throws(Refusal) -> AuthenticatedCaller {
        if presented.authorization != nil {
            guard let token = presented.bearerToken else {
                throw Refusal(cause: "the field Authorization holds no bearer token", claim: nil)
            }
            return try bearer(of: token)
        }
        if let certificate = presented.peer.certificate { return try owner(of: certificate.uris) }
        guard let peer = presented.peer.unixPeer else { throw Refusal(cause: "nothing was presented", claim: nil) }
        for binding in [CallerBinding.uid(peer.uid), .gid(peer.gid)] {
            if let found = owner(of: binding) { return found }
        }
        throw Refusal(cause: "neither uid \(peer.uid) nor gid \(peer.gid) stands for a caller", claim: nil)
    }

    /// The digest of a token.
    private func digest(of token: Substring) -> [UInt8] {
        var bytes = Array(token.utf8)
        // Freed memory keeps what it held.
        defer { bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        return digest(bytes)
    }

    private func bearer(of text: Substring) throws(Refusal) -> AuthenticatedCaller {
        let digest = digest(of: text)
        let found = registry.read { index in index.token(digest).map { ($0, index.caller($0.caller)) } }
        if let (token, caller) = found {
            guard let caller, token.expiresAt.map({ now() < $0 }) ?? true else {
                throw Refusal(cause: "token \(token.id) of `\(token.caller)` has expired", claim: "token:\(token.id)")
            }
            return AuthenticatedCaller(caller: caller, credential: .token(id: token.id))
        }
        switch OpaqueToken.read(text) {
        case .token(let id): throw Refusal(cause: "token \(id) is unknown or revoked", claim: "token:\(id)")
        case .damaged:
            throw Refusal(cause: "the token's checksum is wrong: it is mistyped, cut off or made by hand", claim: nil)
        case .other: break
        }
        switch tokens.finding(on: String(text)) {
        case .bearer(let caller): return caller
        case .refused(let cause, let keyID):
            throw Refusal(cause: "caller token refused: \(cause)", claim: keyID.map { "key:\($0)" })
        case .notAToken:
            throw Refusal(cause: "the bearer token is neither a token of ours nor a JWT signed with ES256", claim: nil)
        }
    }

    /// The caller of a certificate.
    private func owner(of uris: [String]) throws(Refusal) -> AuthenticatedCaller {
        var found: AuthenticatedCaller?
        for uri in uris {
            guard let owner = owner(of: .certificate(uri: uri)) else { continue }
            // Which of two callers is meant nobody but the certificate's maker could say.
            if let found, found.caller.name != owner.caller.name {
                throw Refusal(cause: "the certificate stands for several callers", claim: nil)
            }
            found = found ?? owner
        }
        guard let found else {
            throw Refusal(cause: "no URI of the client certificate stands for a caller", claim: nil)
        }
        return found
    }

    private func owner(of binding: CallerBinding) -> AuthenticatedCaller? {
        registry.read { index in index.owner(of: binding).flatMap(index.caller) }
            .map { AuthenticatedCaller(caller: $0, credential: .binding(binding)) }
    }
}
