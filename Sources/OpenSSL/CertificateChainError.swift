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
