import Foundation
import JOSE
import JSON

/// The token of a call, checked as Apple checks it.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
struct ReceivedToken: Sendable {
    static let audience = "appstoreconnect-v1"
    /// The longest life that Apple accepts, in seconds.
    static let longestLife: TimeInterval = 3600
    /// How far a caller's clock may run ahead, in seconds.
    static let tolerance: TimeInterval = 60

    private let token: CompactJWS
    private let header: JOSEHeader
    private let claims: JWTClaims

    /// Reads the token of an `Authorization` header, without believing any of it yet.
    init(authorization: String?) throws(TokenFault) {
        guard let authorization else { throw .missing }
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .missing }
        do throws(JOSEError) {
            token = try CompactJWS(String(parts[1]), maximumCount: 16_384)
            header = try token.parseHeader()
            claims = try JWTClaims(parsing: token.decodePayload())
        } catch {
            throw .malformed
        }
    }

    /// `kid`.
    var keyID: String? { header.keyID }

    /// `bid`.
    var bundleID: String? { claims.others["bid"]?.string }

    /// Checks all but the app.
    ///
    /// - Parameters:
    ///   - keys: the registered keys by their ids.
    ///   - now: the time by the server's clock.
    /// - Throws: the first fault found
    func check(keys: [String: RegisteredKey], now: Date) throws(TokenFault) {
        guard header.type == "JWT" else { throw .wrongType }
        guard let key = keyID.flatMap({ keys[$0] }) else { throw .unknownKey }
        guard !key.isRevoked else { throw .revokedKey }
        do throws(JOSEError) {
            try token.verify(with: key.publicKey, header: header)
        } catch {
            throw .invalidSignature
        }
        guard claims.issuer == key.issuerID else { throw .wrongIssuer }
        guard claims.audience == [Self.audience] else { throw .wrongAudience }
        guard bundleID != nil else { throw .missingBundleID }
        try checkTimes(now: now)
    }

    /// Apple's Python library sends no `iat`; then the time of the call stands in for it.
    private func checkTimes(now: Date) throws(TokenFault) {
        guard let expiresAt = claims.expiresAt else { throw .missingExpiry }
        guard expiresAt > now else { throw .expired }
        if let issuedAt = claims.issuedAt {
            guard issuedAt <= now + Self.tolerance else { throw .issuedInFuture }
            guard expiresAt.timeIntervalSince(issuedAt) <= Self.longestLife else { throw .livesTooLong }
        } else {
            guard expiresAt.timeIntervalSince(now) <= Self.longestLife + Self.tolerance else { throw .livesTooLong }
        }
    }
}

/// What is wrong with a bearer token.
package enum TokenFault: String, Error, Sendable, Hashable, CaseIterable {
    case missing = "no bearer token"
    case malformed = "not a JWT signed with ES256"
    case wrongType = "typ is not JWT"
    case unknownKey = "kid is missing or unknown"
    case revokedKey = "the key is revoked"
    case invalidSignature = "the signature is not the key's"
    case wrongIssuer = "iss is not the key's issuer"
    case wrongAudience = "aud is not appstoreconnect-v1"
    case missingBundleID = "bid is missing"
    case otherTeam = "bid is an app of another team"
    case missingExpiry = "exp is missing"
    case expired = "exp has passed"
    case issuedInFuture = "iat is in the future"
    case livesTooLong = "the token lives longer than 60 minutes"
    case notReleased = "the app was never released to production"
}
