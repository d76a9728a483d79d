package import Domain
package import Foundation
import JOSE
import JSON
package import Logging
package import Metrics
import OpenSSL

/// Mints Apple's bearer tokens and keeps them until they have lived most of their life.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | tokens | key id and bundle id | 80 % of the token's life | one an app and key |
///
/// A token is minted under the lock of its own slot: however many callers ask at once, one signs, and the others wait the
/// few dozen microseconds that a signature takes. No caller ever waits for another app's key.
///
/// The audit is handed a record of each token before it is used; how often one is used it is told once in a while.
package struct TokenMinter: TokenSource, TokenIssuer {
    private let keys: KeyRing
    private let policy: TokenPolicy
    private let clock: ServiceClock
    private let audit: any AuditTrail
    private let slots: TokenSlots
    /// Asks for the turn among the copies of the daemon; nil where there are no others.
    private let turn: MintTurn?
    private let minted: Counter
    private let failed: Counter
    private let reused: Counter
    private let logger: Logger

    package init(
        keys: KeyRing, policy: TokenPolicy = .standard, clock: ServiceClock, audit: any AuditTrail,
        turn: MintTurn? = nil, metrics: any MetricsFactory, logger: Logger
    ) {
        self.turn = turn
        self.keys = keys
        self.policy = policy
        self.clock = clock
        self.audit = audit
        self.logger = logger
        slots = TokenSlots()
        minted = Counter(label: "purser_tokens_minted", dimensions: [], factory: metrics)
        failed = Counter(label: "purser_token_mint_failures", dimensions: [], factory: metrics)
        reused = Counter(label: "purser_tokens_reused", dimensions: [], factory: metrics)
    }

    package func token(for app: App) throws(ServiceError) -> BearerToken {
        try token(with: keys.signingKey(for: app), for: app)
    }

    /// A token by this very key, whether it is active or not.
    func token(with key: KeyRing.Key, for app: App) throws(ServiceError) -> BearerToken {
        try slots.slot(key.keyID, app.bundleID).withLock { slot throws(ServiceError) in
            slot.wasUsed = true
            if let held = slot.held, isFresh(held, share: policy.reuseShare) {
                reused.increment()
                slot.uses += 1
                return held.token
            }
            let token = try mint(into: &slot, with: key, for: app)
            slot.uses += 1
            return token
        }
    }

    package func standbyTokens(for app: App) -> [BearerToken] {
        keys.standbyKeys(for: app).compactMap { key in
            do throws(ServiceError) {
                return try token(with: key, for: app)
            } catch {
                logger.error(
                    "A standby key cannot sign",
                    metadata: ["app": "\(app.slug)", "key_id": "\(key.keyID)", "cause": "\(error.cause ?? "")"])
                return nil
            }
        }
    }

    package func activate(_ standby: BearerToken, insteadOf refused: BearerToken, for app: App) -> Bool {
        keys.takeOver(standby.keyID, from: refused.keyID, for: app, at: clock.now())
    }

    package func mayReplace(_ token: BearerToken) async -> Bool {
        guard let turn else { return true }
        // Asked for only where this process may mint by itself, since the turn would last longer with each time.
        guard slots.isMintDue(keyID: token.keyID, at: clock.monotonicNow(), interval: policy.refusalInterval) else {
            return false
        }
        return await turn(token.keyID, policy.refusalInterval)
    }

    package func refused(_ token: BearerToken, for app: App) {
        let isDropped = slots.slot(token.keyID, app.bundleID).withLock { slot in
            guard slot.held?.token.generation == token.generation,
                slots.mayMintAfterRefusal(
                    keyID: token.keyID, at: clock.monotonicNow(), interval: policy.refusalInterval)
            else { return false }
            endUse(of: &slot, app: app.slug)
            return true
        }
        logger.log(
            level: isDropped ? .warning : .debug, "Apple refused a token",
            metadata: ["app": "\(app.slug)", "key_id": "\(token.keyID)", "dropped": "\(isDropped)"])
    }

    /// Replaces every token in use that is about to grow too old, so that no call has to wait for a mint.
    ///
    /// - Parameter apps: the apps whose tokens to look after.
    package func refresh(_ apps: [App]) {
        for app in apps {
            guard let key = keys.activeKey(for: app) else { continue }
            // An app that nobody has asked for has no slot, and gets none here.
            slots.existing(key.keyID, app.bundleID)?.withLock { slot in
                guard slot.wasUsed, let held = slot.held, !isFresh(held, share: policy.refreshShare) else { return }
                slot.wasUsed = false
                do throws(ServiceError) {
                    _ = try mint(into: &slot, with: key, for: app)
                } catch {
                    // The next call will try again and tell its caller.
                    logger.error(
                        "A token could not be refreshed",
                        metadata: ["app": "\(app.slug)", "cause": "\(error.cause ?? "")"])
                }
            }
        }
    }

    /// Forgets the tokens of keys that neither sign for an app nor could take over, so that none is used again.
    ///
    /// - Parameters:
    ///   - apps: all that there are.
    ///   - replaced: the ids of keys that are other keys by now, or of another issuer: their tokens are forgotten, too.
    func forgetRetired(_ apps: [App], replaced: Set<String> = []) {
        let byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        let gone = slots.removeAll { keyID, bundleID in
            replaced.contains(keyID) || byBundleID[bundleID].map { !keys.mayServe(keyID, $0) } ?? true
        }
        for (bundleID, slot) in gone {
            guard let app = byBundleID[bundleID] else { continue }
            slot.withLock { endUse(of: &$0, app: app.slug) }
        }
    }

    /// Whether a token is young enough, by its age and by the clock that Apple sees.
    private func isFresh(_ held: TokenSlots.Held, share: Double) -> Bool {
        let life = Duration.seconds(policy.lifetime * share)
        let age = held.mintedAt.duration(to: clock.monotonicNow())
        let wallAge = clock.now().timeIntervalSince(held.issuedAt)
        return age < life && wallAge > -policy.backdating && wallAge < policy.lifetime * share
    }

    private func mint(
        into slot: inout TokenSlots.Slot, with key: KeyRing.Key, for app: App
    ) throws(ServiceError) -> BearerToken {
        let now = clock.now()
        let token = try sign(key, for: app, at: now, lifetime: policy.lifetime)
        let digest = try digest(of: token)
        do throws(ServiceError) {
            try audit.note(
                AuditAct(.tokenMinted, by: .daemon, app: app.slug, keyID: key.keyID, tokenDigest: digest))
        } catch {
            failed.increment()
            throw error
        }
        endUse(of: &slot, app: app.slug)
        slot.held = TokenSlots.Held(token: token, digest: digest, issuedAt: now, mintedAt: clock.monotonicNow())
        minted.increment()
        return token
    }

    private func sign(
        _ key: KeyRing.Key, for app: App, at now: Date, lifetime: TimeInterval
    ) throws(ServiceError) -> BearerToken {
        let issuedAt = now.addingTimeInterval(-policy.backdating)
        let expiresAt = now.addingTimeInterval(lifetime)
        do {
            let value = try TokenFormat.sign(key, bundleID: app.bundleID, issuedAt: issuedAt, expiresAt: expiresAt)
            keys.noteUse(key.keyID, at: now)
            return BearerToken(
                value: value, keyID: key.keyID, generation: slots.nextGeneration(), issuedAt: issuedAt,
                expiresAt: expiresAt)
        } catch {
            failed.increment()
            throw ServiceError(.keyUnavailable, "The token for Apple could not be signed.", cause: "\(error)")
        }
    }
}

// MARK: For callers, and for the audit

extension TokenMinter {
    package func issueToken(for app: App) async throws(ServiceError) -> BearerToken {
        let now = Date(timeIntervalSince1970: clock.now().timeIntervalSince1970.rounded(.down))
        let token = try sign(keys.signingKey(for: app), for: app, at: now, lifetime: policy.issuedLifetime)
        minted.increment()
        return token
    }

    /// Tells the audit how often tokens were used since the last time.
    ///
    /// - Parameter apps: the apps whose tokens to tell of.
    package func tellUses(_ apps: [App]) {
        for uses in slots.takeUntold() where !isTold(uses) { slots.keepUntold(uses) }
        let byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        for (bundleID, slot) in slots.all {
            guard let app = byBundleID[bundleID] else { continue }
            slot.withLock { slot in
                // Without room for it, the calls have been made all the same, and are told the next time.
                if let uses = Self.uses(of: slot, app: app.slug), isTold(uses) { slot.uses = 0 }
            }
        }
    }

    /// Lets go of a slot's token; that it was used is told now, or kept for later.
    private func endUse(of slot: inout TokenSlots.Slot, app: String) {
        if let uses = Self.uses(of: slot, app: app), !isTold(uses) { slots.keepUntold(uses) }
        (slot.held, slot.uses) = (nil, 0)
    }

    private static func uses(of slot: TokenSlots.Slot, app: String) -> TokenSlots.Uses? {
        guard slot.uses > 0, let held = slot.held else { return nil }
        return TokenSlots.Uses(token: held, app: app, count: slot.uses)
    }

    /// Whether the audit has taken a record of uses.
    private func isTold(_ uses: TokenSlots.Uses) -> Bool {
        let act = AuditAct(
            .tokenUsed, by: .daemon, app: uses.app, keyID: uses.token.token.keyID, tokenDigest: uses.token.digest,
            details: ["uses": String(uses.count)])
        return (try? audit.note(act)) != nil
    }

    /// What the audit knows a token by.
    ///
    /// - Throws: `keyUnavailable`: a token that no record can name is not used.
    private func digest(of token: BearerToken) throws(ServiceError) -> [UInt8] {
        do throws(OpenSSLError) {
            return try SHA256Digest.digest(Array(token.value.utf8))
        } catch {
            failed.increment()
            throw ServiceError(
                .keyUnavailable, "The token for Apple could not be signed.", cause: "no digest: \(error)")
        }
    }
}

/// Takes the turn to mint a token for a key whose last one Apple has refused, for so long; false when another copy has it.
package typealias MintTurn = @Sendable (_ keyID: String, _ duration: Duration) async -> Bool

/// How long a token lives and how it is dated.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
package struct TokenPolicy: Sendable, Equatable {
    /// Apple accepts no longer life, measured from `iat` to `exp`.
    package static let appleMaximumLifetime: TimeInterval = 60 * 60

    /// From now to `exp`, in seconds.
    package let lifetime: TimeInterval
    /// How far `iat` is set back, in seconds, for clocks that differ.
    package let backdating: TimeInterval
    /// The same of a token that a caller is given: long enough to be used many times, short enough to be lost.
    package let issuedLifetime: TimeInterval
    /// The share of its life during which a token is handed out.
    package let reuseShare: Double
    /// The share of its life after which it is replaced in the background.
    package let refreshShare: Double
    /// The least time between two mints that Apple's refusals force, for one key.
    package let refusalInterval: Duration

    package static let standard = TokenPolicy(
        lifetime: 20 * 60, backdating: 30, reuseShare: 0.8, refreshShare: 0.7, refusalInterval: .seconds(60))

    package init(
        lifetime: TimeInterval, issuedLifetime: TimeInterval = 10 * 60, backdating: TimeInterval, reuseShare: Double,
        refreshShare: Double,
        refusalInterval: Duration
    ) {
        precondition(
            max(lifetime, issuedLifetime) + backdating < Self.appleMaximumLifetime,
            "Apple refuses tokens that live an hour")
        self.lifetime = lifetime
        self.issuedLifetime = issuedLifetime
        self.backdating = backdating
        self.reuseShare = reuseShare
        self.refreshShare = refreshShare
        self.refusalInterval = refusalInterval
    }
}

/// The token that Apple wants.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
enum TokenFormat {
    static let audience = "appstoreconnect-v1"

    /// - Throws: `OpenSSLError`.
    static func sign(
        _ key: KeyRing.Key, bundleID: String, issuedAt: Date, expiresAt: Date
    ) throws(OpenSSLError) -> String {
        let claims = JWTClaims(
            issuer: key.issuerID, audience: [audience], issuedAt: issuedAt, expiresAt: expiresAt,
            others: ["bid": .string(bundleID)])
        return try JWT.sign(claims, keyID: key.keyID, with: key.privateKey)
    }
}
