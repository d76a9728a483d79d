import Domain
import Foundation
import JOSE
import Logging
import OpenSSL
import StoreSQLite

/// Who may call: the callers of the configuration with their tokens, and all callers with the keys that the store knows.
struct CallerAccess: Sendable {
    /// By bearer token.
    let directory: CallerDirectory
    /// Issues, lists and revokes keys.
    let keys: CallerKeyService
    /// Checks the JWTs that callers sign with them.
    let tokens: CallerTokenChecker

    /// Wires the parts, and warns of keys that stand for nobody.
    ///
    /// - Throws: `storeUnavailable`, or `OpenSSLError` when there is no randomness for the issuer id.
    init(
        _ configuration: DaemonConfiguration, apps: AppCatalog, store: SQLiteStore, now: @escaping WallClock,
        logger: Logger
    ) async throws {
        let issuer = try await store.installationKey(name: "callerKeyIssuer") {
            Array(UUID().uuidString.lowercased().utf8)
        }
        let issuerID = String(decoding: issuer, as: UTF8.self)
        let register = CallerRegister(configured: configuration.callers.map(\.caller))
        directory = CallerDirectory(
            credentials: configuration.callers.map {
                CallerDirectory.Credential(caller: $0.caller, tokenDigest: $0.tokenDigest)
            },
            // A digest that cannot be computed matches no credential.
            digest: { (try? SHA256Digest.digest($0)) ?? [] })
        keys = CallerKeyService(
            issuerID: issuerID, store: store, register: register, apps: apps, now: now,
            decodePublicKey: { (try? ECPublicKey(pemRepresentation: $0))?.derRepresentation }, logger: logger)
        tokens = CallerTokenChecker(
            issuerID: issuerID, store: store, register: register, apps: apps, now: now, read: CallerToken.init(jwt:))
        for caller in try await keys.callers() {
            for key in caller.keys where key.state == .orphaned {
                logger.warning(
                    "A caller key stands for nobody; revoke it, or put the configuration right",
                    metadata: ["caller": "\(caller.name)", "app": "\(key.key.app)", "key": "\(key.key.id)"])
            }
        }
    }
}

extension CallerToken {
    /// The longest token that is read, in bytes.
    private static let maximumBytes = 8 * 1024

    /// Takes a JWT apart; nil for anything that is not one of algorithm ES256.
    init?(jwt text: String) {
        guard let token = try? CompactJWS(text, maximumCount: Self.maximumBytes),
            let header = try? token.parseHeader(), let payload = try? token.decodePayload(),
            let claims = try? JWTClaims(parsing: payload)
        else { return nil }
        self.init { publicKey in
            // Whatever keeps the signature from being checked, the token has not proved anything.
            guard let key = try? ECPublicKey(derRepresentation: publicKey) else { return false }
            return (try? token.verify(with: key, header: header)) != nil
        }
        keyID = header.keyID
        type = header.type
        issuer = claims.issuer
        audience = claims.audience
        issuedAt = claims.issuedAt
        notBefore = claims.notBefore
        expiresAt = claims.expiresAt
        bundleID = claims.text("bid")
    }
}
