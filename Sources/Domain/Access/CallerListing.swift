package import Foundation

/// A caller as operators see it: who it is, what it may do, and by what it proves itself; nothing of it is a secret.
package struct CallerListing: Sendable {
    /// Where a caller is declared.
    package enum Source: String, Sendable, CaseIterable {
        /// Read-only here.
        case configuration
        /// Added by an operator.
        case store
        /// Nowhere: there are keys of this name that nobody has revoked, and which are of no use.
        case none
    }

    /// How a credential stands.
    package enum State: String, Sendable, CaseIterable {
        case active
        case expired
        case revoked
        /// It stands for no caller or app as the configuration is now.
        case orphaned
    }

    package struct Token: Sendable {
        /// What the token begins with after `prs_`; of one of the configuration, what its digest begins with.
        package let id: String
        package let state: State
        /// Nil for one of the configuration, which does not tell.
        package let createdAt: Date?
        package let expiresAt: Date?
        package let revokedAt: Date?
        package let lastUsedAt: Date?
    }

    package struct Binding: Sendable {
        package let binding: CallerBinding
        package let state: State
        package let lastUsedAt: Date?
    }

    package struct Key: Sendable {
        package let key: CallerKey
        package let state: State
        package let lastUsedAt: Date?
    }

    package let name: String
    package let source: Source
    /// Whether the configuration has taken the name of a caller of the store, which then stands for nobody.
    package let isShadowed: Bool
    /// Nil for one of the configuration.
    package let createdAt: Date?
    /// By app slug.
    package let scopes: [String: Set<Scope>]
    /// In the order in which they were made.
    package let tokens: [Token]
    /// By kind and value in ascending order.
    package let bindings: [Binding]
    /// In the order of issue.
    package let keys: [Key]

    /// Where a caller stands in the list of all.
    package struct Position: Sendable, Comparable {
        package enum Part: Int, Sendable {
            case configured
            case others
            case shadowed
        }

        let part: Part
        let name: String

        init(part: Part, name: String) {
            self.part = part
            self.name = name
        }

        /// Reads what `text` has written.
        package init?(text: String) {
            let words = text.split(separator: ":", maxSplits: 1)
            guard words.count == 2, let part = Int(words[0]).flatMap(Part.init) else { return nil }
            self.init(part: part, name: String(words[1]))
        }

        package var text: String { "\(part.rawValue):\(name)" }

        package static func < (left: Position, right: Position) -> Bool {
            (left.part.rawValue, left.name) < (right.part.rawValue, right.name)
        }
    }

    package var position: Position {
        Position(part: isShadowed ? .shadowed : source == .configuration ? .configured : .others, name: name)
    }

    /// When it last proved who it is, to about a minute; nil for never.
    package var lastUsedAt: Date? {
        (tokens.map(\.lastUsedAt) + bindings.map(\.lastUsedAt) + keys.map(\.lastUsedAt)).compactMap(\.self).max()
    }
}

extension CallerRegistry {
    /// The callers: those of the configuration first, then the others, then those that are shadowed, each part by name in ascending
    /// order.
    ///
    /// `position`: behind which caller to begin; nil for the first. `limit`: how many at most; nil for all.
    package func listings(
        apps: AppCatalog, after position: CallerListing.Position? = nil, limit: Int? = nil
    ) -> [CallerListing] {
        let places = read { index in
            index.names.map { name in
                CallerListing.Position(part: index.configuredCaller(name) != nil ? .configured : .others, name: name)
            } + index.shadowed.map { CallerListing.Position(part: .shadowed, name: $0) }
        }
        var found: [CallerListing] = []
        for place in places where position.map({ $0 < place }) ?? true {
            if let limit, found.count >= limit { break }
            let caller = place.part == .shadowed ? shadowed(place.name) : listing(of: place.name, apps: apps)
            if let caller { found.append(caller) }
        }
        return found
    }

    /// A caller by name; nil where nobody has it.
    package func listing(of name: String, apps: AppCatalog) -> CallerListing? {
        let (now, uses) = (time(), uses(of: name))
        return read { index in
            let keys = (index.keyIDs[name] ?? []).compactMap { index.keys[$0] }.map { key in
                CallerListing.Key(
                    key: key, state: index.state(of: key, apps: apps), lastUsedAt: uses[.key(id: key.id)])
            }
            if let configured = index.configuredCaller(name) {
                return CallerListing(
                    name: name, source: .configuration, isShadowed: false, createdAt: nil,
                    scopes: configured.caller.scopes,
                    tokens: configured.tokenDigests.map { digest in
                        let id = ConfiguredCaller.tokenID(digest)
                        return CallerListing.Token(
                            id: id, state: .active, createdAt: nil, expiresAt: nil, revokedAt: nil,
                            lastUsedAt: uses[.token(id: id)])
                    },
                    bindings: index.listed(configured.bindings, of: name, uses: uses), keys: keys)
            }
            guard let stored = index.stored[name] else {
                guard keys.contains(where: { $0.key.revokedAt == nil }) else { return nil }
                return CallerListing(
                    name: name, source: .none, isShadowed: false, createdAt: nil, scopes: [:], tokens: [],
                    bindings: [], keys: keys)
            }
            return index.listed(stored, keys: keys, uses: uses, isShadowed: false, at: now)
        }
    }

    /// A caller of the store whose name the configuration has taken.
    private func shadowed(_ name: String) -> CallerListing? {
        let now = time()
        return read { index in
            index.stored[name].map { index.listed($0, keys: [], uses: [:], isShadowed: true, at: now) }
        }
    }
}

extension CallerIndex {
    fileprivate func listed(
        _ stored: StoredCaller, keys: [CallerListing.Key], uses: [CallerCredential: Date], isShadowed: Bool,
        at now: Date
    ) -> CallerListing {
        CallerListing(
            name: stored.name, source: .store, isShadowed: isShadowed, createdAt: stored.createdAt,
            scopes: stored.grants,
            tokens: stored.tokens.map { token in
                let state: CallerListing.State =
                    if token.revokedAt != nil { .revoked } else if !token.isUsable(at: now) {
                        .expired
                    } else if isShadowed {
                        .orphaned
                    } else { .active }
                return CallerListing.Token(
                    id: token.id, state: state, createdAt: token.createdAt, expiresAt: token.expiresAt,
                    revokedAt: token.revokedAt, lastUsedAt: uses[.token(id: token.id)])
            },
            bindings: listed(stored.bindings, of: isShadowed ? "" : stored.name, uses: uses), keys: keys)
    }

    fileprivate func listed(
        _ bindings: Set<CallerBinding>, of name: String, uses: [CallerCredential: Date]
    ) -> [CallerListing.Binding] {
        bindings.sorted { ($0.kind.rawValue, $0.value) < ($1.kind.rawValue, $1.value) }.map { binding in
            CallerListing.Binding(
                binding: binding, state: owner(of: binding) == name ? .active : .orphaned,
                lastUsedAt: uses[.binding(binding)])
        }
    }

    func state(of key: CallerKey, apps: AppCatalog) -> CallerListing.State {
        if key.revokedAt != nil { return .revoked }
        return bearer(of: key) != nil && (try? apps.app(key.app)) != nil ? .active : .orphaned
    }
}
