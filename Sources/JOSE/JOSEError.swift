package import OpenSSL

/// Why a token or one of its parts was refused.
///
/// Never holds anything of the token.
package enum JOSEError: Error, Sendable, Equatable {
    /// Longer than the reader allows; the associated value is that limit in bytes.
    case tooLarge(maximumCount: Int)
    /// Not three non-empty parts between two dots (RFC 7515, section 7.1).
    case malformed
    /// A part is not Base64url as RFC 7515, section 2, defines it.
    case invalidBase64URL
    /// The header is not one JSON object, names a parameter twice, or gives one a value of the wrong type.
    case invalidHeader
    /// `alg` is missing or not `ES256`.
    case unsupportedAlgorithm
    /// `crit` is present: no extension is understood here (RFC 7515, section 4.1.11).
    case criticalHeader
    /// `x5c` is not an array of Base64 strings, or an empty or over-long one (RFC 7515, section 4.1.6).
    case invalidCertificateChain
    /// The signature is not 64 bytes long (RFC 7518, section 3.4).
    case invalidSignatureLength
    /// The signature was not made with this key over these bytes.
    case invalidSignature
    /// The header given to the verification was read from another token.
    case headerMismatch
    /// The payload is not a set of claims as RFC 7519 defines them.
    case invalidClaims
    /// libcrypto failed for another reason than the token.
    case library(OpenSSLError)
}

extension JOSEError: CustomStringConvertible {
    /// One English phrase.
    package var description: String {
        switch self {
        case .tooLarge(let maximumCount): "token longer than \(maximumCount) bytes"
        case .malformed: "not a JWS of three non-empty parts"
        case .invalidBase64URL: "a part of the JWS is not Base64url"
        case .invalidHeader: "the JWS header is not valid JSON of the expected types"
        case .unsupportedAlgorithm: "the JWS algorithm is not ES256"
        case .criticalHeader: "the JWS header demands an extension"
        case .invalidCertificateChain: "the JWS header's x5c is not a list of certificates"
        case .invalidSignatureLength: "the JWS signature is not 64 bytes long"
        case .invalidSignature: "the JWS signature does not match"
        case .headerMismatch: "the header belongs to another JWS"
        case .invalidClaims: "the JWT claims are not valid JSON of the expected types"
        case .library(let error): "\(error)"
        }
    }
}
