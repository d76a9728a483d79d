import Domain
import NIOCore

/// What a handler gets to see of a request: decoded, bounded and authenticated.
package struct RequestInput: Sendable {
    package let requestID: String
    let headers: RequestHeaders
    let preferences: PreferHeader
    /// Path parameters in the order of the path, percent-decoded.
    let parameters: [(name: String, value: String)]
    /// Query parameters in the order given, percent-decoded.
    let query: [(name: String, value: String)]
    /// The whole body; nil where the route takes none.
    let body: [UInt8]?
    /// The whole body of a route that takes a secret.
    let secretBody: SecretText?
    /// Whether a body came where the route takes none, and which would be ignored.
    let hasUnexpectedBody: Bool
    /// Who asks; nil on listeners that do not authenticate.
    let caller: Caller?
    /// Who acts, as the audit names them.
    let actor: Actor
    /// No wait lasts beyond this.
    let deadline: ContinuousClock.Instant
    /// What the request may let go while it waits for something that may take a minute; nil where nothing is bounded.
    let slot: (any RequestSlot)?
    /// The other end of the connection.
    let peer: SocketAddress?
    /// What the connection proves of its client.
    let peerIdentity: PeerIdentity
    /// Who is believed about where the request came from.
    let trustedProxies: TrustedProxies

    /// A path parameter of the route for which there is no rule.
    ///
    /// - Throws: `internalError` when the route has no such parameter.
    func parameter(_ name: String) throws(ServiceError) -> String {
        guard let value = parameters.first(where: { $0.name == name })?.value else {
            throw ServiceError(.internalError, "Internal error.", cause: "route without parameter \(name)")
        }
        return value
    }

    /// Where the request came from, as far as somebody who is trusted tells: an IPv4 or IPv6 address.
    var sourceAddress: String? {
        trustedProxies.source(peer: peer?.ipAddress, forwarded: headers[values: .xForwardedFor])
    }

    /// Whose share it uses of what is bounded.
    var requester: Requester {
        actor == .unauthenticated ? .stranger(from: sourceAddress.map(SourceNetwork.name)) : .known(actor)
    }

    /// How long the request may still wait for something.
    var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

    /// Whether who asks may see what a scope shows; on listeners that do not authenticate everybody may.
    func mayRead(_ scope: Scope, of app: App) -> Bool { caller?.holds(scope, for: app.slug) ?? true }

    /// The call to Apple on the caller's behalf.
    func call(
        _ app: App, _ environment: AppStoreEnvironment?, priority: CallPriority = .interactive
    ) -> UpstreamCall {
        UpstreamCall(
            app: app, environment: environment, deadline: deadline, caller: caller?.name ?? "", priority: priority)
    }
}
