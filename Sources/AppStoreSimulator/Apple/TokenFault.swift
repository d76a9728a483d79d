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
