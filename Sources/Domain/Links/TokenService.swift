import Foundation
import Logging

/// Sets the `appAccountToken` of purchases at Apple, and remembers what Apple accepted: Apple's signed data shows it only in
/// what is signed afterwards, and never for a period of a subscription that is over.
package struct TokenService: Sendable {
    private let gateway: any TransactionGateway
    private let links: any LinkStore
    private let now: WallClock
    private let logger: Logger

    init(gateway: any TransactionGateway, links: any LinkStore, now: @escaping WallClock, logger: Logger) {
        self.gateway = gateway
        self.links = links
        self.now = now
        self.logger = logger
    }

    /// Sets the token of a purchase.
    ///
    /// - Returns: the environment of the purchase.
    /// - Throws: what the gateway throws.
    package func set(
        _ token: String, of originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        let environment = try await gateway.setAppAccountToken(
            token, originalTransactionID: originalTransactionID, call)
        await record(token, of: originalTransactionID, app: call.app, environment)
        return environment
    }

    /// Remembers a token that Apple accepted in a call that was passed on.
    ///
    /// Apple has it whatever happens here, so that a failure is told to the operator and not to the caller.
    package func record(
        _ token: String, of originalTransactionID: String, app: App, _ environment: AppStoreEnvironment
    ) async {
        do {
            try await links.recordToken(
                token, of: originalTransactionID, app: app.slug, environment: environment, at: now())
        } catch {
            logger.error(
                "An appAccountToken that Apple accepted could not be recorded; owners follow Apple's next signed data",
                metadata: ["app": "\(app.slug)", "cause": "\(error.cause ?? error.message)"])
        }
    }
}
