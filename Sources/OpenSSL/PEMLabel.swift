/// A label of a PEM block that may be quoted: one of a fixed list.
///
/// Any other text between `BEGIN` and the dashes may be part of a key, for example in a file whose line breaks are missing.
///
/// Source: RFC 7468 section 4, appendix A; `PEM_STRING_…` of OpenSSL's `pem.h`; `PROTOCOL.key` of OpenSSH
package enum PEMLabel: String, Sendable, Equatable, CaseIterable {
    case anyPrivateKey = "ANY PRIVATE KEY"
    case attributeCertificate = "ATTRIBUTE CERTIFICATE"
    case certificate = "CERTIFICATE"
    case certificateRequest = "CERTIFICATE REQUEST"
    case cms = "CMS"
    case dhParameters = "DH PARAMETERS"
    case dsaParameters = "DSA PARAMETERS"
    case dsaPrivateKey = "DSA PRIVATE KEY"
    case dsaPublicKey = "DSA PUBLIC KEY"
    case ecParameters = "EC PARAMETERS"
    case ecPrivateKey = "EC PRIVATE KEY"
    case ecPublicKey = "EC PUBLIC KEY"
    case ecdsaPublicKey = "ECDSA PUBLIC KEY"
    case encryptedPrivateKey = "ENCRYPTED PRIVATE KEY"
    case newCertificateRequest = "NEW CERTIFICATE REQUEST"
    case opensshPrivateKey = "OPENSSH PRIVATE KEY"
    case parameters = "PARAMETERS"
    case pkcs7 = "PKCS7"
    case pkcs7SignedData = "PKCS #7 SIGNED DATA"
    case privateKey = "PRIVATE KEY"
    case publicKey = "PUBLIC KEY"
    case rsaPrivateKey = "RSA PRIVATE KEY"
    case rsaPublicKey = "RSA PUBLIC KEY"
    case sessionParameters = "SSL SESSION PARAMETERS"
    case sm2Parameters = "SM2 PARAMETERS"
    case sm2PrivateKey = "SM2 PRIVATE KEY"
    case trustedCertificate = "TRUSTED CERTIFICATE"
    case x509Certificate = "X509 CERTIFICATE"
    case x509CertificateWithDot = "X.509 CERTIFICATE"
    case x509RevocationList = "X509 CRL"
    case x942Parameters = "X9.42 DH PARAMETERS"

    /// The label that has exactly these bytes; nil if the list has none.
    init?(_ bytes: some Collection<UInt8>) {
        guard let label = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
        self = label
    }
}
