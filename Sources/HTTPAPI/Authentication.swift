package import Domain
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Finds out which caller a request comes from, at every listener that asks, and tells whoever keeps failing to wait.
package struct Authenticator: Sendable {
    private let resolver: CallerResolver
    private let failedAttempts: FailedAttempts

    /// `access`: who is who; all listeners of one share the count of failed attempts.
    package init(_ access: Access) {
        self.init(resolver: access.resolver, failedAttempts: access.failedAttempts)
    }

    package init(resolver: CallerResolver, failedAttempts: FailedAttempts) {
        self.resolver = resolver
        self.failedAttempts = failedAttempts
    }

    /// Who sends a request, and when that was found out.
    struct Finding: Sendable {
        let found: AuthenticatedCaller
        fileprivate let version: UInt64
    }

    /// The caller of a request.
    ///
    /// `headers`: those of the request; `channel`: the connection; `peerIdentity`: what the connection proves;
    /// `trustedProxies`: who is believed about where the request came from, which is what failed attempts are counted
    /// by.
    ///
    /// - Throws: `unauthenticated`, or `tooManyFailedAttempts` for a source, or in the name of a caller, that keeps failing. A
    ///   right credential is always let in.
    func caller(
        of headers: RequestHeaders, from channel: any Channel, provenBy peerIdentity: PeerIdentity = PeerIdentity(),
        trusting trustedProxies: TrustedProxies
    ) throws(ServiceError) -> Finding {
        // Asked first, so that what is revoked while the caller is looked for counts as revoked later.
        let version = resolver.version
        let presented = PresentedCredentials(
            authorization: headers[.authorization], peer: peerIdentity)
        do throws(CallerResolver.Refusal) {
            return Finding(found: try resolver.resolve(presented), version: version)
        } catch {
            throw failure(error, from: Self.source(of: headers, channel, trustedProxies))
        }
    }

    private static func source(
        of headers: RequestHeaders, _ channel: any Channel, _ trustedProxies: TrustedProxies
    ) -> String? {
        trustedProxies.source(
            peer: channel.remoteAddress?.ipAddress, forwarded: headers[values: .xForwardedFor])
    }

    /// Checks, before something is shown that took its time, that the caller has not been shut out meanwhile.
    ///
    /// - Throws: `unauthenticated`.
    func check(_ finding: Finding) throws(ServiceError) {
        guard resolver.version != finding.version, !resolver.stillStands(finding.found) else { return }
        throw unauthenticated(cause: "\(finding.found.credential.text) was revoked while the request was answered")
    }

    /// The failure of a request whose credential names no app where one is needed.
    func withoutApp(
        _ headers: RequestHeaders, from channel: any Channel, trusting trustedProxies: TrustedProxies
    ) -> ServiceError {
        failure(
            CallerResolver.Refusal(cause: "only a JWT signed with a caller key names the app", claim: nil),
            from: Self.source(of: headers, channel, trustedProxies))
    }

    private func failure(_ refusal: CallerResolver.Refusal, from source: String?) -> ServiceError {
        guard let wait = failedAttempts.note(from: source, claim: refusal.claim) else {
            return unauthenticated(cause: refusal.cause)
        }
        return ServiceError(
            .tooManyFailedAttempts, "Too many failed attempts to authenticate from here, or in this name.",
            cause: refusal.cause, retryAfter: wait)
    }

    /// The same whatever is wrong: only the log tells more.
    private func unauthenticated(cause: String) -> ServiceError {
        ServiceError(
            .unauthenticated,
            resolver.knowsNobody
                ? "There is no caller yet; add one with `purser callers add`, or to the configuration's `callers`."
                : "Send `Authorization: Bearer` with a token of a caller, or connect as one (`docs/callers.md`).",
            cause: cause)
    }
}
