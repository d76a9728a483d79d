/// Gives out tokens for Apple and learns which were refused.
///
/// No method waits for anything slower than a signature: callers rely on it to keep their deadlines.
package protocol TokenSource: Sendable {
    /// A token for this app, from the cache or freshly minted.
    ///
    /// - Throws: `keyUnavailable` when the app has no active key or signing fails.
    func token(for app: App) async throws(ServiceError) -> BearerToken

    /// Drops a token that Apple answered with 401, unless a newer one has replaced it already.
    func refused(_ token: BearerToken, for app: App) async

    /// A token by each standby key of this app, in the order of preference; empty when it has none that can sign.
    ///
    /// They are for finding out whether Apple takes them: no call is made with one before its key is active.
    func standbyTokens(for app: App) async -> [BearerToken]

    /// Makes the standby key that signed a token the app's active one, in the place of the key that signed the refused
    /// token.
    ///
    /// - Returns: false when another key has taken that place before.
    func activate(_ standby: BearerToken, insteadOf refused: BearerToken, for app: App) async -> Bool
}
