import COpenSSL
package import Foundation

/// Verification of chains of exactly three certificates: a leaf, an intermediate and a pinned root.
package enum CertificateChain {
    /// What signatures and keys a chain may have.
    package enum Strength: Sendable, Equatable {
        /// 112 bits of security for every signature and key, which rules out SHA-1 and short RSA keys
        /// (`X509_VERIFY_PARAM_set_auth_level(3)`: level 2).
        case current
        /// The same, but certificates may be signed with SHA-1, as those of app receipts were for many years.
        case acceptingSHA1

        /// libcrypto's level; at its lowest the bits are looked at here.
        fileprivate var securityLevel: CInt {
            switch self {
            case .current: 2
            case .acceptingSHA1: 0
            }
        }
    }

    private static let minimumSecurityBits: CInt = 112

    /// Verifies a chain by RFC 5280 in libcrypto's strict form.
    ///
    /// Only the given roots are trusted: no certificates of the system, and no intermediate in the place of a root.
    /// Revocation is not checked.
    /// - Parameters:
    ///   - leaf: The certificate whose key is wanted.
    ///   - intermediate: The certificate that must have issued it.
    ///   - roots: The pinned, self-signed certificates, one of which must have issued the intermediate.
    ///   - date: The moment at which all three must be valid.
    ///   - requiredLeafExtension: An object identifier that the leaf must carry, in digits.
    ///   - requiredIntermediateExtension: The same for the intermediate.
    /// - Returns: The leaf's key and the time in which all three are valid.
    /// - Throws: ``CertificateChainError``
    package static func verify(
        leaf: Certificate, intermediate: Certificate, roots: [Certificate], at date: Date,
        requiredLeafExtension: String? = nil, requiredIntermediateExtension: String? = nil
    ) throws(CertificateChainError) -> VerifiedChain {
        let path = try verifyPath(
            leaf: leaf, intermediates: [intermediate], roots: roots, at: date,
            requiredLeafExtension: requiredLeafExtension, requiredIntermediateExtension: requiredIntermediateExtension)
        let key: ECPublicKey
        do throws(PublicKeyError) {
            key = try leaf.publicKey()
        } catch {
            throw CertificateChainError(.leaf, .unsupportedKey(error), text: error.description)
        }
        return VerifiedChain(leafPublicKey: key, validity: path.validity)
    }

    /// Verifies the chain of a leaf whose key may be of any kind; the intermediate is found among those given.
    ///
    /// - Parameters:
    ///   - leaf: The certificate whose key is wanted.
    ///   - intermediates: Certificates one of which must have issued it; the others are passed over. Few: each may be tried.
    ///   - roots: The pinned, self-signed certificates, one of which must have issued the intermediate.
    ///   - date: The moment at which all three must be valid.
    ///   - strength: What signatures and keys are good enough.
    ///   - requiredLeafExtension: An object identifier that the leaf must carry, in digits.
    ///   - requiredIntermediateExtension: The same for the intermediate.
    /// - Returns: The certificates of the chain and the time in which all three are valid.
    /// - Throws: ``CertificateChainError``
    package static func verifyPath(
        leaf: Certificate, intermediates: [Certificate], roots: [Certificate], at date: Date,
        strength: Strength = .current, requiredLeafExtension: String? = nil,
        requiredIntermediateExtension: String? = nil
    ) throws(CertificateChainError) -> VerifiedPath {
        let (intermediate, root) = try verified(
            leaf: leaf, intermediates: intermediates, roots: roots, at: date, strength: strength)
        if strength == .acceptingSHA1 {
            try requireStrength(of: leaf, .leaf)
            try requireStrength(of: intermediate, .intermediate)
            try requireStrength(of: root, .root)
        }
        try require(requiredLeafExtension, of: leaf, .leaf)
        try require(requiredIntermediateExtension, of: intermediate, .intermediate)
        let start = max(leaf.notBefore, intermediate.notBefore, root.notBefore)
        let end = min(leaf.notAfter, intermediate.notAfter, root.notAfter)
        // All three were valid at `date`, so that the intersection is not empty.
        return VerifiedPath(
            leaf: leaf, intermediate: intermediate, root: root, validity: start..<max(start, end))
    }

    /// Verifies a chain whose certificates are still in DER; see the other form.
    package static func verify(
        leaf: [UInt8], intermediate: [UInt8], roots: [Certificate], at date: Date,
        requiredLeafExtension: String? = nil, requiredIntermediateExtension: String? = nil
    ) throws(CertificateChainError) -> VerifiedChain {
        try verify(
            leaf: decode(leaf, .leaf), intermediate: decode(intermediate, .intermediate), roots: roots, at: date,
            requiredLeafExtension: requiredLeafExtension, requiredIntermediateExtension: requiredIntermediateExtension)
    }

    private static func decode(
        _ der: [UInt8], _ role: CertificateChainError.Role
    ) throws(CertificateChainError) -> Certificate {
        do throws(CertificateError) {
            return try Certificate(der: der)
        } catch {
            throw CertificateChainError(role, .malformed, text: error.description)
        }
    }

    private static func require(
        _ oid: String?, of certificate: Certificate, _ role: CertificateChainError.Role
    ) throws(CertificateChainError) {
        guard let oid, !certificate.hasExtension(oid: oid) else { return }
        throw CertificateChainError(role, .missingExtension(oid), text: "extension \(oid) is missing")
    }

    /// Requires what libcrypto's level 2 does, but lets a certificate be signed with SHA-1.
    ///
    /// A root's own signature proves nothing and is not looked at.
    private static func requireStrength(
        of certificate: Certificate, _ role: CertificateChainError.Role
    ) throws(CertificateChainError) {
        guard certificate.keySecurityBits >= minimumSecurityBits,
            role == .root || certificate.isSignedWithSHA1 || certificate.signatureSecurityBits >= minimumSecurityBits
        else { throw CertificateChainError(role, .rejected, text: "its key or signature is too weak") }
    }

    /// Builds and verifies the chain.
    private static func verified(
        leaf: Certificate, intermediates: [Certificate], roots: [Certificate], at date: Date, strength: Strength
    ) throws(CertificateChainError) -> (intermediate: Certificate, root: Certificate) {
        let result: Result<(intermediate: Certificate, root: Certificate), CertificateChainError>
        do throws(OpenSSLError) {
            let verification = try ChainVerification(leaf: leaf, intermediates: intermediates, roots: roots)
            try verification.configure(date: date, securityLevel: strength.securityLevel)
            result = verification.run(intermediates: intermediates, roots: roots)
        } catch {
            throw CertificateChainError(.leaf, .library, text: error.description)
        }
        return try result.get()
    }
}

/// The certificates of a chain that was verified, and for how long they hold.
package struct VerifiedPath: Sendable {
    package let leaf: Certificate
    package let intermediate: Certificate
    package let root: Certificate
    /// The time in which all three are valid; the end is excluded.
    package let validity: Range<Date>
}

/// What remains of a chain that was verified: whom it makes trustworthy, and for how long.
package struct VerifiedChain: Sendable {
    /// The key that the chain vouches for.
    package let leafPublicKey: ECPublicKey
    /// The time in which all three certificates are valid.
    ///
    /// The end is excluded, as libcrypto has it.
    package let validity: Range<Date>

    /// A chain as verified.
    package init(leafPublicKey: ECPublicKey, validity: Range<Date>) {
        self.leafPublicKey = leafPublicKey
        self.validity = validity
    }
}

/// Why a chain of certificates was refused.
package struct CertificateChainError: Error, Sendable, Equatable {
    /// The place in the chain of the certificate that is at fault.
    package enum Role: String, Sendable, Equatable {
        case leaf
        case intermediate
        case root
    }

    /// What is wrong with it.
    package enum Reason: Sendable, Equatable {
        /// Not the DER of a certificate.
        case malformed
        /// The time of check is after its validity.
        case expired
        /// The time of check is before its validity.
        case notYetValid
        /// The leaf was not issued by the intermediate.
        case issuerMismatch
        /// The intermediate was not issued by any of the given roots.
        case untrustedRoot
        /// The issuer's key does not confirm the signature.
        case badSignature
        /// It issued a certificate without being a certificate authority, or without the usage or path length for it.
        case notCertificateAuthority
        /// An extension is missing; the associated value is its object identifier.
        case missingExtension(String)
        /// The chain has another length than three.
        case chainLength
        /// The leaf's key cannot check ES256 signatures.
        case unsupportedKey(PublicKeyError)
        /// Any other rule of RFC 5280, such as an unknown critical extension; the error's text says which.
        case rejected
        /// libcrypto failed for another reason than the certificates.
        case library
    }

    package let certificate: Role
    package let reason: Reason
    /// libcrypto's words, such as `certificate has expired`.
    package let text: String

    init(_ certificate: Role, _ reason: Reason, text: String) {
        self.certificate = certificate
        self.reason = reason
        self.text = text
    }
}

extension CertificateChainError: CustomStringConvertible {
    /// The certificate, the reason and libcrypto's words on one line.
    package var description: String { "\(certificate.rawValue) certificate: \(text) (\(reason))" }
}
