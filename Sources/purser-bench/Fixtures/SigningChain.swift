import Foundation
import JOSE
import OpenSSL

/// Signs as the App Store does: ES256, with a chain of leaf, intermediate and root in the header, on Apple's curves.
struct SigningChain: Sendable {
    let root: Certificate
    private let header: JOSEHeader
    private let leafKey: ECPrivateKey

    /// Makes a new chain, valid from a year ago for twenty years.
    ///
    /// - Throws: `OpenSSLError`
    init() throws {
        let start = Date(timeIntervalSinceNow: -365 * 86_400)
        let end = start + 20 * 365 * 86_400
        let rootKey = try IssuingKey(generating: .p384)
        root = try CertificateBuilder.authority("Bench Root", notBefore: start, notAfter: end).selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .p384)
        var builder = CertificateBuilder.authority(
            "Bench Intermediate", notBefore: start, notAfter: end, pathLength: 0)
        builder.markerExtensions = ["1.2.840.113635.100.6.2.1"]
        let intermediate = try builder.issued(
            to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        leafKey = try ECPrivateKey.generate()
        builder = CertificateBuilder.signer("Bench Leaf", notBefore: start, notAfter: end)
        builder.markerExtensions = ["1.2.840.113635.100.6.11.1"]
        let leaf = try builder.issued(
            to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        header = JOSEHeader(certificateChain: [leaf.der, intermediate.der, root.der])
    }

    /// Signs a payload as it is.
    ///
    /// - Returns: a compact JWS.
    /// - Throws: `OpenSSLError`
    func sign(_ payload: [UInt8]) throws -> String {
        try CompactJWS.sign(payload, header: header, with: leafKey)
    }
}
