package import Foundation

/// Gives out tokens for Apple and learns which were refused.
///
/// No method waits for anything slower than a signature: callers rely on it to keep their deadlines.
package protocol TokenSource: Sendable {
    /// A token for this app, from the cache or freshly minted.
    ///
    /// - Throws: `keyUnavailable` when the app has no active key or signing fails.
    func token(for app: App) throws(ServiceError) -> BearerToken

    /// Whether it is the turn of this process to mint a token in the place of one that Apple answered with 401: once in a while for
    /// each key, of all copies of the daemon together.
    func mayReplace(_ token: BearerToken) async -> Bool

    /// Drops a token that Apple answered with 401, unless a newer one has replaced it already.
    func refused(_ token: BearerToken, for app: App)

    /// A token by each standby key of this app, in the order of preference; empty when it has none that can sign.
    ///
    /// They are for finding out whether Apple takes them: no call is made with one before its key is active.
    func standbyTokens(for app: App) -> [BearerToken]

    /// Makes the standby key that signed a token the app's active one, in the place of the key that signed the refused
    /// token.
    ///
    /// - Returns: false when another key has taken that place before.
    func activate(_ standby: BearerToken, insteadOf refused: BearerToken, for app: App) -> Bool
}

extension TokenSource {
    // Where there are no others.
    package func mayReplace(_ token: BearerToken) async -> Bool { true }
}

/// A bearer token for Apple.
///
/// Its value never enters a log, an error or a description.
package struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The compact JWT, for the `Authorization` header alone.
    package let value: String
    /// The key that signed it.
    package let keyID: String
    /// Counts the mints of this process; tells apart the token that Apple refused from the one minted since.
    package let generation: UInt64
    /// The token's `iat`, by our clock.
    package let issuedAt: Date
    /// The token's `exp`, by our clock.
    package let expiresAt: Date

    package init(value: String, keyID: String, generation: UInt64, issuedAt: Date, expiresAt: Date) {
        self.value = value
        self.keyID = keyID
        self.generation = generation
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    package var description: String { "BearerToken(keyID: \(keyID), generation: \(generation))" }
    package var debugDescription: String { description }
}

/// What an operator may know of a key; nothing of it is secret.
package struct KeyStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case standby
        case active
        case retired
        case revoked
    }

    package let keyID: String
    package let issuerID: String
    package let state: State
    /// The apps it signs for, by slug.
    package let apps: [String]
    /// Where it came from, such as `file` or `credential`.
    package let source: String

    package init(keyID: String, issuerID: String, state: State, apps: [String], source: String) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.state = state
        self.apps = apps
        self.source = source
    }
}
