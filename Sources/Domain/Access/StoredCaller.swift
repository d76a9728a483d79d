package import Foundation

/// A caller that operators have added while the daemon ran; beside these there are those of the configuration.
package struct StoredCaller: Sendable, Hashable {
    /// How many tokens may be usable at the same time: the new one and, for a while, the one that it replaces.
    package static let maximumUsableTokens = 2
    /// How many tokens are remembered, those included that have ended.
    static let maximumTokens = 20
    /// How many certificates, users and groups may stand for one caller.
    static let maximumBindings = 100

    package let name: String
    package let createdAt: Date
    /// What it may do, by app slug; no app without a scope.
    package var grants: [String: Set<Scope>]
    /// In the order in which they were made.
    package var tokens: [AccessToken]
    package var bindings: Set<CallerBinding>

    package init(
        name: String, createdAt: Date, grants: [String: Set<Scope>] = [:], tokens: [AccessToken] = [],
        bindings: Set<CallerBinding> = []
    ) {
        self.name = name
        self.createdAt = createdAt
        self.grants = grants
        self.tokens = tokens
        self.bindings = bindings
    }
}

/// A bearer token that a caller was given; the token itself is known to its bearer alone.
package struct AccessToken: Sendable, Hashable {
    /// What the token begins with after `prs_`.
    package let id: String
    /// The SHA-256 digest of the token, 32 bytes.
    package let digest: [UInt8]
    package let createdAt: Date
    /// When it ceases to be usable; nil for never.
    package var expiresAt: Date?
    /// When it was revoked, if it was.
    package var revokedAt: Date?

    package init(id: String, digest: [UInt8], createdAt: Date, expiresAt: Date? = nil, revokedAt: Date? = nil) {
        self.id = id
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether its bearer is the caller at a moment.
    package func isUsable(at now: Date) -> Bool { revokedAt == nil && expiresAt.map { now < $0 } ?? true }
}

// MARK: Rules

extension StoredCaller {
    /// Allows more of an app.
    package mutating func grant(_ scopes: Set<Scope>, for app: String) {
        grants[app, default: []].formUnion(scopes)
    }

    /// Allows less of an app; scopes that it does not have are left aside.
    package mutating func ungrant(_ scopes: Set<Scope>, for app: String) {
        guard let left = grants[app]?.subtracting(scopes) else { return }
        grants[app] = left.isEmpty ? nil : left
    }

    /// Gives it a new token, and ends those that it has after a time.
    ///
    /// - Parameters:
    ///   - token: the new one.
    ///   - end: when those before it cease to be usable; one that ends earlier keeps its time.
    ///   - now: the time of day; with `end` at or before it the earlier ones end at once.
    /// - Throws: `callerConflict` when more tokens would be usable than may be.
    package mutating func rotate(to token: AccessToken, endingOthersAt end: Date, at now: Date) throws(ServiceError) {
        let usable = tokens.filter { $0.isUsable(at: now) }
        if end > now, usable.count >= Self.maximumUsableTokens, let oldest = usable.first {
            throw ServiceError(
                .callerConflict,
                "Caller `\(name)` has \(usable.count) usable tokens already; revoke the oldest, \(oldest.id), or end both at once with a grace of 0."
            )
        }
        for index in tokens.indices where tokens[index].isUsable(at: now) {
            tokens[index].expiresAt = min(tokens[index].expiresAt ?? end, end)
        }
        tokens.append(token)
        let tooMany = tokens.count - Self.maximumTokens
        if tooMany > 0 { tokens.removeFirst(tooMany) }
    }

    /// Revokes a token, at once and for good; one that is revoked already keeps its time.
    ///
    /// - Returns: whether there is such a token.
    package mutating func revoke(token id: String, at now: Date) -> Bool {
        guard let index = tokens.firstIndex(where: { $0.id == id }) else { return false }
        tokens[index].revokedAt = tokens[index].revokedAt ?? now
        return true
    }
}

// MARK: Keeping them

/// Keeps the callers that operators add; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`. Times of day are whole milliseconds, as `ServiceClock` tells them.
package protocol CallerStore: CallerKeyStore {
    /// Everything that is known of callers, as of one moment.
    func callerRecords() async throws(ServiceError) -> CallerRecords

    /// A number that grows with every change of callers, tokens, bindings and keys, and of nothing else.
    func callerGeneration() async throws(ServiceError) -> Int64

    /// Changes one caller, or adds it.
    ///
    /// - Parameters:
    ///   - name: which one.
    ///   - change: gives what it shall be, from what it is; nil where there is none. It may run more than once.
    /// - Returns: the caller as it is now.
    /// - Throws: what `change` throws; `callerConflict` when a binding belongs to another caller.
    func updateCaller(
        _ name: String, _ change: @escaping @Sendable (StoredCaller?) throws(ServiceError) -> StoredCaller
    ) async throws(ServiceError) -> CallerChange

    /// Removes a caller with its tokens and bindings, and what is known of their use.
    ///
    /// - Parameters:
    ///   - name: which one.
    ///   - date: when its keys are revoked; nil leaves them, which are those of another caller.
    /// - Returns: the change, without a caller; nil when there was none.
    /// - Throws: `storeUnavailable`.
    func removeCaller(_ name: String, revokingKeysAt date: Date?) async throws(ServiceError) -> CallerChange?

    /// Keeps when credentials were last used; a later time that is known already stands.
    func noteCallerUses(_ uses: [CallerUse]) async throws(ServiceError)

    /// When each credential was last used, as far as that was kept.
    func callerUses() async throws(ServiceError) -> [CallerUse]
}

/// What a store knows of callers.
package struct CallerRecords: Sendable {
    package let generation: Int64
    /// By name in ascending order.
    package let callers: [StoredCaller]
    /// Every key that was ever issued, in the order of issue.
    package let keys: [CallerKey]

    package init(generation: Int64, callers: [StoredCaller], keys: [CallerKey]) {
        self.generation = generation
        self.callers = callers
        self.keys = keys
    }
}

/// A caller after a change.
package struct CallerChange: Sendable {
    package let generation: Int64
    package let name: String
    /// Nil when it is gone, and its keys are revoked.
    package let caller: StoredCaller?

    package init(generation: Int64, name: String, caller: StoredCaller?) {
        self.generation = generation
        self.name = name
        self.caller = caller
    }
}
