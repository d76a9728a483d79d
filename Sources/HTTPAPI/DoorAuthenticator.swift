package import Domain
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Finds out which caller a request at an Apple-compatible door comes from, by the JWT that it signed.
package struct DoorAuthenticator: Sendable {
    private let tokens: CallerTokenChecker
    private let throttle: FailedAttempts

    /// - Parameters:
    ///   - tokens: checks the callers' JWTs.
    ///   - now: a monotonic clock, for the throttle.
    package init(
        tokens: CallerTokenChecker, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.tokens = tokens
        throttle = FailedAttempts(now: now)
    }

    /// The bearer of a request's token.
    ///
    /// - Throws: `unauthenticated`, `tooManyFailedAttempts` for a source that keeps failing, `storeUnavailable`. A right
    ///   token is always let in.
    func bearer(
        of request: Request, from channel: any Channel
    ) async throws(ServiceError) -> CallerTokenChecker.Bearer {
        do throws(ServiceError) {
            guard let token = BearerCredential.token(request.headers[.authorization]) else {
                throw ServiceError(.unauthenticated, "No bearer token.", cause: "no bearer token was sent")
            }
            return try await tokens.bearer(of: token)
        } catch {
            guard error.reason == .unauthenticated, let wait = throttle.noteFailure(of: channel) else { throw error }
            throw ServiceError(
                .tooManyFailedAttempts, "Too many failed attempts to authenticate from this address.",
                cause: error.cause, retryAfter: wait)
        }
    }
}
