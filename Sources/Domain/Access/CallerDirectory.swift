/// The callers of the configuration, found by the bearer token they present.
///
/// Only SHA-256 digests of tokens are held. A look-up compares with every digest in constant time, so that its duration
/// tells nothing about how close a guess was.
package struct CallerDirectory: Sendable {
    /// A caller's credential: the SHA-256 digest (32 bytes) of its token.
    package struct Credential: Sendable {
        package let caller: Caller
        package let tokenDigest: [UInt8]

        package init(caller: Caller, tokenDigest: [UInt8]) {
            self.caller = caller
            self.tokenDigest = tokenDigest
        }
    }

    private let credentials: [Credential]
    private let digest: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - credentials: the callers with the digests of their tokens.
    ///   - digest: SHA-256.
    package init(credentials: [Credential], digest: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.credentials = credentials
        self.digest = digest
    }

    /// Whether any caller can authenticate at all.
    package var isEmpty: Bool { credentials.isEmpty }

    /// The caller whose token this is.
    package func caller(bearer token: String) -> Caller? {
        let presented = digest(Array(token.utf8))
        var found: Caller?
        for credential in credentials where credential.tokenDigest.isEqualInConstantTime(to: presented) {
            found = credential.caller
        }
        return found
    }
}

extension [UInt8] {
    /// Compares digests and authentication codes in a time that depends on their length alone, so that it tells nothing about
    /// how close a guess was.
    func isEqualInConstantTime(to other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in indices { difference |= self[index] ^ other[index] }
        return difference == 0
    }
}

/// Which caller a key stands for: those of the configuration, and beside them those that exist by their keys alone.
///
/// A name means one caller. A key of a configured caller has no scopes of its own; any other key has. A key that fits
/// neither stands for nobody: its caller has left the configuration, or has come into it under a name that was taken.
package struct CallerRegister: Sendable {
    private let configured: [String: Caller]

    /// `configured`: the callers of the configuration.
    package init(configured: [Caller]) {
        self.configured = Dictionary(configured.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The callers of the configuration, by name in ascending order.
    package var all: [Caller] { configured.values.sorted { $0.name < $1.name } }

    /// The caller of the configuration with this name.
    package func configuredCaller(_ name: String) -> Caller? { configured[name] }

    /// Who the bearer of a key is, with what it may do with the key's app; nil when the key stands for nobody.
    package func bearer(of key: CallerKey) -> Caller? {
        guard key.revokedAt == nil else { return nil }
        switch (configured[key.caller], key.scopes) {
        case (let caller?, nil):
            return caller.scopes[key.app].map { Caller(name: caller.name, scopes: [key.app: $0]) }
        case (nil, let scopes?): return Caller(name: key.caller, scopes: [key.app: scopes])
        default: return nil
        }
    }

    /// Every caller with its keys, those of the configuration first.
    ///
    /// - Parameters:
    ///   - keys: all that were ever issued.
    ///   - apps: those of the configuration; a key for any other is of no use.
    /// - Returns: the callers.
    package func listings(of keys: [CallerKey], apps: AppCatalog) -> [CallerKeyService.Listing] {
        let keys = Dictionary(grouping: keys, by: \.caller).mapValues { $0.map { listed($0, apps: apps) } }
        let configured = all.map { caller in
            CallerKeyService.Listing(
                name: caller.name, isConfigured: true, scopes: caller.scopes, keys: keys[caller.name] ?? [])
        }
        let others = keys.keys.filter { self.configured[$0] == nil }.sorted().map { name in
            CallerKeyService.Listing(name: name, isConfigured: false, scopes: [:], keys: keys[name] ?? [])
        }
        return configured + others
    }

    /// A key as it stands.
    func listed(_ key: CallerKey, apps: AppCatalog) -> CallerKeyService.ListedKey {
        if key.revokedAt != nil { return .init(key: key, state: .revoked) }
        let isOfUse = bearer(of: key) != nil && (try? apps.app(key.app)) != nil
        return .init(key: key, state: isOfUse ? .active : .orphaned)
    }
}
