package import Foundation

/// Finds out who signed a caller's JWT, and checks it as Apple would.
///
/// The key is looked up for every token, so that a revocation takes effect at once. A token whose key is unknown costs as
/// much as one whose signature is wrong. The same tokens are taken at the Apple-compatible doors and on `/v1`.
package struct CallerTokenChecker: Sendable {
    /// What `aud` must be.
    package static let audience = "appstoreconnect-v1"
    /// The longest life of a token.
    static let maximumLifetime: TimeInterval = 3600
    /// How far a caller's clock may run ahead of ours.
    static let tolerance: TimeInterval = 60

    private let issuerID: String
    private let registry: CallerRegistry
    private let apps: AppCatalog
    private let now: WallClock
    private let read: @Sendable (String) -> CallerToken?

    /// `issuerID`: this installation's, which every token must name; `read`: takes a token apart, nil for what is no JWT of
    /// algorithm ES256.
    package init(
        issuerID: String, registry: CallerRegistry, apps: AppCatalog, now: @escaping WallClock,
        read: @escaping @Sendable (String) -> CallerToken?
    ) {
        self.issuerID = issuerID
        self.registry = registry
        self.apps = apps
        self.now = now
        self.read = read
    }

    /// What a token came to.
    enum Finding {
        case bearer(AuthenticatedCaller)
        /// Why it is refused, and the key that it claims to be signed with, where that could be one.
        case refused(cause: String, claimedKey: String?)
        /// It is no JWT at all.
        case notAToken
    }

    /// Whose a token is.
    func finding(on text: String) -> Finding {
        guard let token = read(text) else { return .notAToken }
        let keyID = token.keyID.flatMap { CallerKey.isID($0) ? $0 : nil }
        func refuse(_ cause: String) -> Finding { .refused(cause: cause, claimedKey: keyID) }
        if let fault = fault(in: token) { return refuse(fault) }
        guard let keyID else { return refuse("`kid` is no key id") }
        let (key, caller) = registry.read { index in (index.keys[keyID], index.keys[keyID].flatMap(index.bearer(of:))) }
        let isSigned = token.isSigned(key?.publicKey ?? Self.decoy)
        guard let key else { return refuse("no key has the id that `kid` names") }
        guard isSigned else { return refuse("the signature is not that of key \(key.id)") }
        guard key.revokedAt == nil else { return refuse("key \(key.id) is revoked") }
        guard let caller else {
            return refuse(
                "key \(key.id) stands for nobody: `\(key.caller)` is gone, or may do nothing with `\(key.app)`")
        }
        guard let app = try? apps.app(key.app) else {
            return refuse("key \(key.id) is for app `\(key.app)`, which is not configured")
        }
        guard token.bundleID == app.bundleID else { return refuse("`bid` is not the app of key \(key.id)") }
        return .bearer(AuthenticatedCaller(caller: caller, credential: .key(id: key.id), app: app))
    }

    /// The first claim that is wrong whoever signed, if any.
    private func fault(in token: CallerToken) -> String? {
        let now = now()
        guard token.type == "JWT" else { return "`typ` is not JWT" }
        guard token.issuer == issuerID else { return "`iss` is not the issuer id of this installation" }
        guard token.audience == [Self.audience] else { return "`aud` is not \(Self.audience)" }
        guard let expiresAt = token.expiresAt else { return "`exp` is missing" }
        guard expiresAt > now else { return "it has expired" }
        if let notBefore = token.notBefore, notBefore > now + Self.tolerance { return "`nbf` is in the future" }
        guard let issuedAt = token.issuedAt else {
            return expiresAt > now + Self.maximumLifetime + Self.tolerance ? "it lasts more than an hour" : nil
        }
        guard issuedAt <= now + Self.tolerance else { return "`iat` is in the future" }
        return expiresAt.timeIntervalSince(issuedAt) > Self.maximumLifetime ? "it lasts more than an hour" : nil
    }

    /// The generator of P-256 as a public key: something to check a signature with when there is no key.
    private static let decoy: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04, 0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8,
        0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2, 0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39,
        0x45, 0xD8, 0x98, 0xC2, 0x96, 0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C,
        0x0F, 0x9E, 0x16, 0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51,
        0xF5,
    ]
}

/// A JWT that a caller signed with its key, taken apart; nothing in it is to be believed before it has been checked.
///
/// Source: RFC 7519; https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
package struct CallerToken: Sendable {
    /// `kid`.
    package var keyID: String?
    /// `typ`.
    package var type: String?
    /// `iss`.
    package var issuer: String?
    /// `aud`; empty when it is absent.
    package var audience: [String] = []
    /// `iat`.
    package var issuedAt: Date?
    /// `nbf`.
    package var notBefore: Date?
    /// `exp`.
    package var expiresAt: Date?
    /// `bid`.
    package var bundleID: String?
    /// Whether the owner of a key (SubjectPublicKeyInfo in DER) signed it with ES256.
    package var isSigned: @Sendable (_ publicKey: [UInt8]) -> Bool

    package init(isSigned: @escaping @Sendable (_ publicKey: [UInt8]) -> Bool) { self.isSigned = isSigned }
}
