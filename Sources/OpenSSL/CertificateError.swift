/// Why bytes are not an X.509 certificate.
package enum CertificateError: Error, Sendable, Equatable {
    /// No bytes, or a PEM text without a certificate.
    case empty
    /// More than ``Certificate/maximumDERCount`` bytes for one certificate.
    case tooLarge
    /// Not the DER of a certificate, damaged, or with bytes after its end.
    case malformed(OpenSSLError)
    /// Several certificates where one is wanted.
    case severalCertificates
}

extension CertificateError: CustomStringConvertible {
    /// What is wrong, with libcrypto's text.
    package var description: String {
        switch self {
        case .empty: "no certificate"
        case .tooLarge: "larger than \(Certificate.maximumDERCount) bytes"
        case .malformed(let error): "not a certificate: \(error)"
        case .severalCertificates: "several certificates instead of one"
        }
    }
}
