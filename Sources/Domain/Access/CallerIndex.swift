import Foundation

/// A caller that the configuration names, with what proves it.
package struct ConfiguredCaller: Sendable, Equatable {
    package let caller: Caller
    /// SHA-256 digests of its bearer tokens: none, one, or two during a rotation.
    package let tokenDigests: [[UInt8]]
    package let bindings: Set<CallerBinding>

    package init(_ caller: Caller, tokenDigests: [[UInt8]] = [], bindings: Set<CallerBinding> = []) {
        self.caller = caller
        self.tokenDigests = tokenDigests
        self.bindings = bindings
    }

    /// What names a token of the configuration: the first four bytes of its digest in hexadecimal digits.
    static func tokenID(_ digest: [UInt8]) -> String {
        digest.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Who is who: every caller by everything that can prove it, as of one moment.
///
/// The configuration comes first: what it names, a caller of the store cannot be, and a token, certificate or user of its
/// callers stands for nobody else. A caller of the store with a name that the configuration has taken stands for nobody.
///
/// Tokens are found by the SHA-256 digest of what was presented, in a dictionary. That is as good as a comparison in constant
/// time: a token is 256 random bits, so that nobody can choose what its digest begins with, and how long the look-up of another
/// digest takes says nothing about any token. What is compared are digests, of which no token can be made.
struct CallerIndex: Sendable {
    /// A token as it is found by its digest.
    struct Token: Sendable {
        let caller: String
        let id: String
        /// Nil for never.
        let expiresAt: Date?
    }

    private let configured: [String: ConfiguredCaller]
    private(set) var stored: [String: StoredCaller] = [:]
    private(set) var keys: [String: CallerKey] = [:]
    /// The ids of a caller's keys in the order of issue.
    private(set) var keyIDs: [String: [String]] = [:]
    private var tokens: [[UInt8]: Token] = [:]
    private var bindings: [CallerBinding: String] = [:]

    init(configured: [ConfiguredCaller]) {
        self.configured = Dictionary(configured.map { ($0.caller.name, $0) }) { first, _ in first }
        for caller in configured {
            for digest in caller.tokenDigests {
                tokens[digest] = Token(
                    caller: caller.caller.name, id: ConfiguredCaller.tokenID(digest), expiresAt: nil)
            }
            for binding in caller.bindings { bindings[binding] = caller.caller.name }
        }
    }

    // MARK: Changes

    /// Takes a caller of the store as it is now; nil when it is gone, with its keys.
    mutating func set(_ caller: StoredCaller?, named name: String) {
        if let old = stored.removeValue(forKey: name), configured[name] == nil {
            for token in old.tokens where tokens[token.digest]?.caller == name { tokens[token.digest] = nil }
            for binding in old.bindings where bindings[binding] == name { bindings[binding] = nil }
        }
        guard let caller else {
            if configured[name] == nil { for id in keyIDs.removeValue(forKey: name) ?? [] { keys[id] = nil } }
            return
        }
        stored[name] = caller
        guard configured[name] == nil else { return }
        // Whatever the configuration has already is not the store's to give.
        for token in caller.tokens where token.revokedAt == nil && tokens[token.digest] == nil {
            tokens[token.digest] = Token(caller: name, id: token.id, expiresAt: token.expiresAt)
        }
        for binding in caller.bindings where bindings[binding] == nil { bindings[binding] = name }
    }

    /// What there would be with other callers of the configuration, and with those of the store that are here.
    func replacing(configured: [ConfiguredCaller]) -> CallerIndex {
        var index = CallerIndex(configured: configured)
        for (name, caller) in stored.sorted(by: { $0.key < $1.key }) { index.set(caller, named: name) }
        for ids in keyIDs.values {
            for id in ids { if let key = keys[id] { index.set(key) } }
        }
        return index
    }

    /// Takes a key; one that is known to be revoked stays so.
    mutating func set(_ key: CallerKey) {
        if let known = keys[key.id] {
            if known.revokedAt == nil { keys[key.id] = key }
        } else {
            keys[key.id] = key
            keyIDs[key.caller, default: []].append(key.id)
        }
    }

    // MARK: Questions

    /// Whether there is nobody at all.
    var isEmpty: Bool { configured.isEmpty && stored.isEmpty }

    /// Whether a name is somebody's, or keys that nobody has revoked are of that name.
    func isTaken(_ name: String) -> Bool {
        configured[name] != nil || stored[name] != nil
            || (keyIDs[name] ?? []).contains { keys[$0]?.revokedAt == nil }
    }

    /// The names of all callers, those of the configuration first, each part in ascending order.
    var names: [String] {
        let orphans = keyIDs.keys.filter { name in
            configured[name] == nil && stored[name] == nil
                && (keyIDs[name] ?? []).contains { keys[$0]?.revokedAt == nil }
        }
        return configured.keys.sorted()
            + (stored.keys.filter { configured[$0] == nil } + orphans).sorted()
    }

    /// Those of the store whose names the configuration has taken, in ascending order.
    var shadowed: [String] { stored.keys.filter { configured[$0] != nil }.sorted() }

    func configuredCaller(_ name: String) -> ConfiguredCaller? { configured[name] }

    /// Who has this name, with what it may do; nil where nobody has.
    func caller(_ name: String) -> Caller? {
        configured[name]?.caller ?? stored[name].map { Caller(name: name, scopes: $0.grants) }
    }

    /// The token with this digest.
    func token(_ digest: [UInt8]) -> Token? { tokens[digest] }

    /// Whom something of a connection stands for.
    func owner(of binding: CallerBinding) -> String? { bindings[binding] }

    /// Whom a key stands for, with what it allows for the key's app; nil when that is nobody.
    ///
    /// A key of a caller of the configuration has no scopes of its own. One of any other caller may have, and then allows what
    /// both it and the caller's grants do.
    func bearer(of key: CallerKey) -> Caller? {
        guard key.revokedAt == nil, let caller = caller(key.caller), let granted = caller.scopes[key.app] else {
            return nil
        }
        guard let narrowed = key.scopes else { return Caller(name: caller.name, scopes: [key.app: granted]) }
        guard configured[key.caller] == nil else { return nil }
        return Caller(name: caller.name, scopes: [key.app: granted.intersection(narrowed)])
    }

    /// Whether a credential still is the caller's.
    func stands(_ credential: CallerCredential, of name: String, at now: Date) -> Bool {
        switch credential {
        case .token(let id):
            if let caller = configured[name] {
                return caller.tokenDigests.contains { ConfiguredCaller.tokenID($0) == id }
            }
            return stored[name]?.tokens.contains { $0.id == id && $0.isUsable(at: now) } ?? false
        case .key(let id): return keys[id].flatMap(bearer(of:))?.name == name
        case .binding(let binding): return bindings[binding] == name
        }
    }

    /// How many callers may ask about each app, by its slug: those with a scope for it and anything usable to prove
    /// themselves by.
    func callersByApp(at now: Date) -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in names {
            guard let caller = caller(name) else { continue }
            let isAnywhere =
                configured[name].map { !$0.tokenDigests.isEmpty || !$0.bindings.isEmpty }
                ?? stored[name].map { $0.tokens.contains { $0.isUsable(at: now) } || !$0.bindings.isEmpty } ?? false
            let byKey = (keyIDs[name] ?? []).compactMap { keys[$0].flatMap(bearer(of:)) }.flatMap(\.scopes.keys)
            for app in Set(isAnywhere ? Array(caller.scopes.keys) : []).union(byKey) { counts[app, default: 0] += 1 }
        }
        return counts
    }
}
