package import Foundation

/// What a certificate is to say: for simulators and tests, which issue their own.
///
/// Subject and authority key identifiers are always written, since strict verification wants them.
package struct CertificateBuilder: Sendable {
    /// Whether the certificate may issue others (RFC 5280, section 4.2.1.9).
    package enum BasicConstraints: Sendable, Equatable {
        case endEntity
        /// The path length counts the authorities that may follow below; nil sets no limit.
        case certificateAuthority(pathLength: Int?)
    }

    /// What the key may be used for (RFC 5280, section 4.2.1.3), by OpenSSL's names.
    package enum KeyUsage: String, Sendable, Equatable {
        case digitalSignature
        case certificateSigning = "keyCertSign"
        case revocationListSigning = "cRLSign"
    }

    /// What for (RFC 5280, section 4.2.1.12), by OpenSSL's names.
    package enum ExtendedKeyUsage: String, Sendable, Equatable {
        case serverAuthentication = "serverAuth"
        case clientAuthentication = "clientAuth"
    }

    /// A name that the certificate's holder answers to (RFC 5280, section 4.2.1.6).
    package enum AlternativeName: Sendable, Equatable {
        case dns(String)
        /// IPv4 or IPv6, in digits.
        case ipAddress(String)
        case uri(String)
    }

    /// The subject's common name.
    package var commonName: String
    /// The subject's organization.
    package var organization: String?
    /// The first moment of validity; fractions of a second are cut.
    package var notBefore: Date
    /// The last moment of validity; fractions of a second are cut.
    package var notAfter: Date
    package var basicConstraints: BasicConstraints
    /// Left out of the certificate when empty.
    package var keyUsage: [KeyUsage]
    /// Left out of the certificate when empty.
    package var extendedKeyUsage: [ExtendedKeyUsage] = []
    /// Left out of the certificate when empty.
    package var alternativeNames: [AlternativeName] = []
    /// Object identifiers of extensions to mark the certificate with: not critical, of value NULL.
    package var markerExtensions: [String] = []

    /// Starts an authority, whether root or intermediate.
    ///
    /// - Parameters:
    ///   - name: The common name.
    ///   - notBefore: The first moment of validity.
    ///   - notAfter: The last moment of validity.
    ///   - pathLength: How many authorities may follow below.
    /// - Returns: The start, to change before it is issued.
    package static func authority(
        _ name: String, notBefore: Date, notAfter: Date, pathLength: Int? = nil
    ) -> CertificateBuilder {
        CertificateBuilder(
            commonName: name, notBefore: notBefore, notAfter: notAfter,
            basicConstraints: .certificateAuthority(pathLength: pathLength),
            keyUsage: [.certificateSigning, .revocationListSigning])
    }

    /// Starts a certificate whose key signs data.
    package static func signer(_ name: String, notBefore: Date, notAfter: Date) -> CertificateBuilder {
        CertificateBuilder(
            commonName: name, notBefore: notBefore, notAfter: notAfter, basicConstraints: .endEntity,
            keyUsage: [.digitalSignature])
    }

    /// Starts the certificate of a TLS server.
    ///
    /// - Parameters:
    ///   - names: What clients connect to; the first is the common name too.
    ///   - notBefore: The first moment of validity.
    ///   - notAfter: The last moment of validity.
    /// - Returns: The start, to change before it is issued.
    package static func server(
        _ names: [AlternativeName], notBefore: Date, notAfter: Date
    ) -> CertificateBuilder {
        var builder = signer(names.first?.text ?? "server", notBefore: notBefore, notAfter: notAfter)
        builder.extendedKeyUsage = [.serverAuthentication]
        builder.alternativeNames = names
        return builder
    }
}

extension CertificateBuilder.AlternativeName {
    /// The name without its kind.
    package var text: String {
        switch self {
        case .dns(let text), .ipAddress(let text), .uri(let text): text
        }
    }
}
