import Foundation
import Synchronization

/// What is signed for callers; nothing of it is handed out before the audit has a record of it on the disk.
package struct SigningService: Sendable {
    private let signatures: any SignatureSource
    private let tokens: any TokenIssuer
    private let audit: any AuditTrail
    private let sha256: @Sendable ([UInt8]) -> [UInt8]
    private let rate: TokenRate

    /// - Parameters:
    ///   - signatures: signs what apps hand to StoreKit.
    ///   - tokens: signs tokens for Apple.
    ///   - audit: keeps what was signed, and for whom.
    ///   - digest: SHA-256; anything but 32 bytes says that it cannot be computed.
    ///   - monotonicNow: for the rate of tokens.
    init(
        signatures: any SignatureSource, tokens: any TokenIssuer, audit: any AuditTrail,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.signatures = signatures
        self.tokens = tokens
        self.audit = audit
        sha256 = digest
        rate = TokenRate(now: monotonicNow)
    }

    /// Signs a request as a compact JWS.
    ///
    /// - Throws: `keyUnavailable`, `auditUnavailable`.
    package func signature(
        for request: StoreKitRequest, app: App, by actor: Actor
    ) async throws(ServiceError) -> StoreKitSignature {
        let signature = try await signatures.signature(for: request, app: app)
        try await audit.record(
            AuditAct(
                .signatureMade, by: actor, app: app.slug, keyID: signature.keyID,
                tokenDigest: try digest(Array(signature.value.utf8)),
                details: ["kind": request.kind, "nonce": signature.nonce]))
        return signature
    }

    /// Signs a promotional offer in its older form.
    ///
    /// - Throws: `keyUnavailable`, `auditUnavailable`.
    package func signature(
        for offer: OriginalPromotionalOffer, app: App, by actor: Actor
    ) async throws(ServiceError) -> OriginalPromotionalOfferSignature {
        let signature = try await signatures.signature(for: offer, app: app)
        try await audit.record(
            AuditAct(
                .signatureMade, by: actor, app: app.slug, keyID: signature.keyID,
                tokenDigest: try digest(signature.value),
                details: ["kind": OriginalPromotionalOffer.kind, "nonce": signature.nonce]))
        return signature
    }

    /// Signs a token for Apple that a caller will use itself.
    ///
    /// Nobody else has it, so that its record tells whose calls Apple has seen.
    /// - Throws: `tokenRateExceeded`, `keyUnavailable`, `auditUnavailable`.
    package func token(for app: App, by actor: Actor) async throws(ServiceError) -> BearerToken {
        try rate.take(by: actor, app: app.slug)
        let token = try await tokens.issueToken(for: app)
        try await audit.record(
            AuditAct(
                .tokenHandedOut, by: actor, app: app.slug, keyID: token.keyID,
                tokenDigest: try digest(Array(token.value.utf8)),
                details: ["expiresAt": token.expiresAt.formatted(.iso8601)]))
        return token
    }

    /// What the audit knows by what was signed; never what was signed itself.
    ///
    /// - Throws: `keyUnavailable`: what no record can name is not handed out.
    private func digest(_ signed: [UInt8]) throws(ServiceError) -> [UInt8] {
        let digest = sha256(signed)
        guard digest.count == AuditAct.tokenDigestCount else {
            throw ServiceError(.keyUnavailable, "What was signed cannot be recorded.", cause: "no digest of it")
        }
        return digest
    }
}

/// Signs tokens for Apple that leave this service.
package protocol TokenIssuer: Sendable {
    /// A token that nobody has had before, with its whole life left.
    ///
    /// - Throws: `keyUnavailable` when the app has no active key or signing fails.
    func issueToken(for app: App) async throws(ServiceError) -> BearerToken
}

/// How many tokens a caller is given: one lasts for minutes, so that who needs many makes a mistake, or something worse.
///
/// Key: who asks, and the app. Bound: callers times apps.
final class TokenRate: Sendable {
    /// For each caller and app.
    static let allowedPerWindow = 30
    static let window = Duration.seconds(60)

    private struct Key: Hashable {
        /// As the audit names it: not with what `--as` claims, of which there can be any number.
        let actor: String
        let app: String
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let taken = Mutex<(started: ContinuousClock.Instant, counts: [Key: Int])?>(nil)

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// Counts a token.
    ///
    /// - Throws: `tokenRateExceeded`.
    func take(by actor: Actor, app: String) throws(ServiceError) {
        let instant = now()
        let wait: Duration? = taken.withLock { taken in
            var (started, counts) = taken ?? (instant, [:])
            if started + Self.window <= instant { (started, counts) = (instant, [:]) }
            let key = Key(actor: actor.name, app: app)
            let count = counts[key, default: 0] + 1
            counts[key] = count
            taken = (started, counts)
            return count > Self.allowedPerWindow ? instant.duration(to: started + Self.window) : nil
        }
        guard let wait else { return }
        throw ServiceError(
            .tokenRateExceeded,
            "A caller gets \(Self.allowedPerWindow) tokens a minute for an app; use each until it expires.",
            retryAfter: wait)
    }
}
