import Foundation

/// Sets the `appAccountToken` of purchases at Apple, and remembers what Apple accepted: Apple's signed data shows it only in
/// what is signed afterwards, and never for a period of a subscription that is over.
package struct TokenService: Sendable {
    private let gateway: any TransactionGateway
    private let links: any LinkStore
    private let now: WallClock

    init(gateway: any TransactionGateway, links: any LinkStore, now: @escaping WallClock) {
        self.gateway = gateway
        self.links = links
        self.now = now
    }

    /// Sets the token of a purchase.
    ///
    /// - Returns: the environment of the purchase.
    /// - Throws: what the gateway throws; what ``record(_:of:app:_:)`` throws.
    package func set(
        _ token: String, of originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        let environment = try await gateway.setAppAccountToken(
            token, originalTransactionID: originalTransactionID, call)
        try await record(token, of: originalTransactionID, app: call.app, environment)
        return environment
    }

    /// Remembers a token that Apple accepted, here or in a call that was passed on.
    ///
    /// Apple has it whatever happens here. But as long as nobody knows whose the purchase is, that user's withdrawal does not
    /// stand against what is sent about it: so who is told of a success may rely on it, and nobody else is told of one.
    ///
    /// - Throws: `storeUnavailable`; asking again is safe, and sets the same token.
    package func record(
        _ token: String, of originalTransactionID: String, app: App, _ environment: AppStoreEnvironment
    ) async throws(ServiceError) {
        do {
            try await links.recordToken(
                token, of: originalTransactionID, app: app.slug, environment: environment, at: now())
        } catch {
            throw ServiceError(
                error.reason,
                "Apple has taken the appAccountToken, but it could not be recorded here; repeat the request, which sets the same token.",
                cause: error.cause ?? error.message, retryAfter: error.retryAfter)
        }
    }
}
