/// Why bytes are not a public key on P-256.
package enum PublicKeyError: Error, Sendable, Equatable {
    /// Not a SubjectPublicKeyInfo, or a raw point of another length.
    case malformed
    /// A point that is not on the curve, or the point at infinity.
    case invalidPoint
    /// Another curve; the associated value is its name, such as `P-384`.
    case otherCurve(String)
    /// Another algorithm; the associated value is its name, such as `RSA`.
    case otherAlgorithm(String)
}

extension PublicKeyError: CustomStringConvertible {
    /// What the key is instead.
    package var description: String {
        switch self {
        case .malformed: "not a public key"
        case .invalidPoint: "a public key whose point is not on the curve P-256"
        case .otherCurve(let name): "a public key on the curve \(name) instead of P-256"
        case .otherAlgorithm(let name): "a public key for \(name) instead of ECDSA on P-256"
        }
    }
}
