import Foundation

@testable import OpenSSL

/// Keys, signatures and certificates in DER and PEM.
let certificateTargets = [
    FuzzTarget(name: "ecdsa-signature") { bytes in
        if let raw = try? bytes.withUnsafeBytes(ECDSASignature.raw) {
            try hold(raw.count == ECDSASignature.rawCount, "a signature of \(raw.count) bytes")
            try hold(raw.withUnsafeBytes(ECDSASignature.der) == bytes, "a signature has two forms in DER")
        }
        guard bytes.count == ECDSASignature.rawCount else { return }
        let der = bytes.withUnsafeBytes(ECDSASignature.der)
        try hold(der.count <= ECDSASignature.maximumDERCount, "a signature of \(der.count) bytes in DER")
        try hold(try der.withUnsafeBytes(ECDSASignature.raw) == bytes, "DER loses something of a signature")
    },
    FuzzTarget(name: "public-key") { bytes in
        var keys = [try? ECPublicKey(derRepresentation: bytes), try? ECPublicKey(rawRepresentation: bytes)]
        if let text = bytes.text { keys.append(try? ECPublicKey(pemRepresentation: text)) }
        for key in keys.compactMap(\.self) {
            try hold(key.rawRepresentation.count == 64, "a point of \(key.rawRepresentation.count) bytes")
            try hold(try ECPublicKey(derRepresentation: key.derRepresentation) == key, "DER makes another key")
            try hold(try ECPublicKey(pemRepresentation: key.pemRepresentation()) == key, "PEM makes another key")
            try hold(try ECPublicKey(rawRepresentation: key.rawRepresentation) == key, "its point makes another key")
            let isValid = try key.isValidSignature([UInt8](repeating: 1, count: 64), for: bytes)
            try hold(!isValid, "any signature verifies")
        }
    },
    FuzzTarget(name: "private-key") { bytes in
        // As a PEM file, and as the content of one.
        let lines = Data(bytes).base64EncodedString(options: .lineLength64Characters)
        let wrapped = Array("-----BEGIN PRIVATE KEY-----\n\(lines)\n-----END PRIVATE KEY-----\n".utf8)
        for text in [bytes, wrapped] {
            guard let key = try? ECPrivateKey(pkcs8PEM: text) else { continue }
            let again = try ECPrivateKey(pkcs8PEM: try key.pkcs8PEM())
            try hold(again.publicKey == key.publicKey, "a key is read otherwise than it was written")
            let signature = try key.signature(for: bytes)
            try hold(try key.publicKey.isValidSignature(signature, for: bytes), "a key's halves do not belong together")
        }
    },
    FuzzTarget(name: "certificate") { bytes in
        guard let certificates = try? Certificate.certificates(inFile: bytes) else { return }
        try hold(!certificates.isEmpty, "a file with no certificate")
        for certificate in certificates {
            try hold(certificate.der.count <= Certificate.maximumDERCount, "a certificate that is too large")
            let again = try Certificate(pem: try certificate.pem())
            try hold(again == certificate, "PEM makes another certificate")
            let names = certificate.uniformResourceIdentifiers
            try hold(again.uniformResourceIdentifiers == names, "names are read differently the second time")
            try hold(
                (names ?? []).allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } },
                "a name with blanks in it")
            _ = (certificate.notBefore, certificate.notAfter, certificate.subject, certificate.serialNumber)
            _ = (certificate.isCertificateAuthority, certificate.allowsClientAuthentication)
            _ = (certificate.allows(.digitalSignature), certificate.hasExtension(oid: "1.2.840.113635.100.6.11.1"))
            _ = try? certificate.publicKey()
            _ = try certificate.sha256Fingerprint()
        }
    },
    FuzzTarget(name: "certificate-chain") { bytes in
        let genuine = try GenuineChain.shared.get()
        let ders = GenuineChain.certificates(in: bytes)
        guard ders.count >= 2 else { return }
        let chain = try? CertificateChain.verify(
            leaf: ders[0], intermediate: ders[1], roots: [genuine.root], at: GenuineChain.date)
        guard let chain else { return }
        try hold(
            genuine.keys.contains(chain.leafPublicKey.rawRepresentation), "a key is believed that nobody vouched for")
        try hold(chain.validity.contains(GenuineChain.date), "a chain is believed at a time when it is not valid")
    },
]

/// A root and what it vouches for.
private struct GenuineChain {
    /// When all certificates of the corpus are valid.
    static let date = Date(timeIntervalSince1970: 1_790_000_000)

    let root: Certificate
    /// The keys of the certificates that were really issued.
    let keys: Set<[UInt8]>

    static let shared = Result {
        let issued = try FuzzTarget.signed(in: "certificate-chain").flatMap(certificates)
        let keys = try issued.map { try Certificate(der: $0).publicKey().rawRepresentation }
        return GenuineChain(root: try Certificate(der: try FuzzTarget.fixture("chain-root.der")), keys: Set(keys))
    }

    /// Certificates that stand one after the other, by the lengths that they tell.
    static func certificates(in bytes: [UInt8]) -> [[UInt8]] {
        var rest = bytes[...]
        var found: [[UInt8]] = []
        while !rest.isEmpty {
            let head = rest.prefix(4)
            let isLong = head.count == 4 && head.starts(with: [0x30, 0x82])
            let count = isLong ? 4 + Int(head[head.startIndex + 2]) << 8 + Int(head[head.startIndex + 3]) : rest.count
            found.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return found
    }
}
