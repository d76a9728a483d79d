import AppStoreAPI
package import Foundation
import JOSE
package import OpenSSL

/// Signs transactions as the App Store does: ES256, with a chain of leaf, intermediate and root in the header.
///
/// The curves are Apple's too: P-384 for root and intermediate, P-256 for the leaf.
package struct SigningAuthority: Sendable {
    /// The marker of a leaf that signs App Store data.
    package static let leafExtension = "1.2.840.113635.100.6.11.1"
    /// The marker of the intermediate.
    package static let intermediateExtension = "1.2.840.113635.100.6.2.1"
    /// How long new certificates are valid, in seconds: 20 years.
    static let lifetime: TimeInterval = 20 * year
    /// In seconds.
    static let year: TimeInterval = 365 * 86_400
    /// The root is valid from 25 April 2006, as Apple's is that signs receipts.
    private static let rootStart = Date(timeIntervalSince1970: 1_145_923_200)

    let root: Certificate
    let rootKey: IssuingKey
    let intermediate: Certificate
    let intermediateKey: IssuingKey
    let leaf: Certificate
    let leafKey: ECPrivateKey
    private let header: JOSEHeader

    init(
        root: Certificate, rootKey: IssuingKey, intermediate: Certificate, intermediateKey: IssuingKey,
        leaf: Certificate, leafKey: ECPrivateKey
    ) {
        self.root = root
        self.rootKey = rootKey
        self.intermediate = intermediate
        self.intermediateKey = intermediateKey
        self.leaf = leaf
        self.leafKey = leafKey
        header = JOSEHeader(certificateChain: [leaf.der, intermediate.der, root.der])
    }

    /// Makes a new chain.
    ///
    /// - Parameter now: the certificates are valid from a year before, for data that is dated back.
    /// - Throws: `OpenSSLError`
    package init(generatingAt now: Date) throws(OpenSSLError) {
        let start = now - Self.year
        let end = now + Self.lifetime
        let rootKey = try IssuingKey(generating: .p384)
        let root = try Self.rootBuilder(at: now).selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .p384)
        let intermediate = try Self.intermediateBuilder(notBefore: start, notAfter: end)
            .issued(to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        let leafKey = try ECPrivateKey.generate()
        let leaf = try Self.leafBuilder(notBefore: start, notAfter: end)
            .issued(to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        self.init(
            root: root, rootKey: rootKey, intermediate: intermediate, intermediateKey: intermediateKey, leaf: leaf,
            leafKey: leafKey)
    }

    static func rootBuilder(at now: Date) -> CertificateBuilder {
        CertificateBuilder.authority(
            "App Store Simulator Root", notBefore: min(rootStart, now - year), notAfter: now + lifetime)
    }

    static func intermediateBuilder(
        notBefore: Date, notAfter: Date, marked: Bool = true
    ) -> CertificateBuilder {
        var builder = CertificateBuilder.authority(
            "App Store Simulator Intermediate", notBefore: notBefore, notAfter: notAfter, pathLength: 0)
        builder.markerExtensions = marked ? [intermediateExtension] : []
        return builder
    }

    static func leafBuilder(notBefore: Date, notAfter: Date, marked: Bool = true) -> CertificateBuilder {
        var builder = CertificateBuilder.signer("App Store Simulator", notBefore: notBefore, notAfter: notAfter)
        builder.markerExtensions = marked ? [leafExtension] : []
        return builder
    }

    /// Signs a transaction.
    ///
    /// - Parameters:
    ///   - payload: the transaction; its signing date is set here.
    ///   - date: the signing date.
    /// - Returns: A compact JWS.
    /// - Throws: `OpenSSLError`
    func sign(_ payload: TransactionPayload, at date: Date) throws(OpenSSLError) -> String {
        var payload = payload
        payload.signedDate = date.unixMilliseconds
        return try sign(payload.serialized())
    }

    /// Signs a payload as it is.
    ///
    /// - Returns: A compact JWS.
    /// - Throws: `OpenSSLError`
    package func sign(_ payload: [UInt8]) throws(OpenSSLError) -> String {
        try CompactJWS.sign(payload, header: header, with: leafKey)
    }

    // MARK: Tampering

    /// Signs a transaction with something wrong about it.
    ///
    /// - Throws: `OpenSSLError`
    func sign(
        _ payload: TransactionPayload, at date: Date, _ tampering: Tampering
    ) throws(OpenSSLError) -> String {
        var payload = payload
        payload.signedDate = date.unixMilliseconds
        switch tampering {
        case .wrongBundleId: payload.bundleId = (payload.bundleId ?? "") + ".other"
        case .wrongEnvironment: payload.environment = payload.environment == .production ? .sandbox : .production
        case .wrongSignature, .foreignRoot, .expiredCertificate, .missingLeafExtension, .missingIntermediateExtension:
            break
        }
        return try sign(payload.serialized(), at: date, tampering)
    }

    /// Signs a payload as it is with something wrong about the signature or the certificates; what is wrong about
    /// the payload itself is the caller's business.
    ///
    /// - Throws: `OpenSSLError`
    func sign(_ payload: [UInt8], at date: Date, _ tampering: Tampering) throws(OpenSSLError) -> String {
        switch tampering {
        case .wrongBundleId, .wrongEnvironment: try sign(payload)
        case .wrongSignature: Self.turningOneBit(try sign(payload))
        case .foreignRoot: try SigningAuthority(generatingAt: date).sign(payload)
        case .expiredCertificate, .missingLeafExtension: try withNewLeaf(at: date, tampering).sign(payload)
        case .missingIntermediateExtension: try withUnmarkedIntermediate(at: date).sign(payload)
        }
    }

    private func withNewLeaf(at date: Date, _ tampering: Tampering) throws(OpenSSLError) -> SigningAuthority {
        let year = Self.year
        let end = tampering == .expiredCertificate ? date - year : date + year
        let leaf = try Self.leafBuilder(
            notBefore: end - 2 * year, notAfter: end, marked: tampering != .missingLeafExtension
        ).issued(to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        return SigningAuthority(
            root: root, rootKey: rootKey, intermediate: intermediate, intermediateKey: intermediateKey, leaf: leaf,
            leafKey: leafKey)
    }

    private func withUnmarkedIntermediate(at date: Date) throws(OpenSSLError) -> SigningAuthority {
        let year = Self.year
        let intermediate = try Self.intermediateBuilder(notBefore: date - year, notAfter: date + year, marked: false)
            .issued(to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        let leaf = try Self.leafBuilder(notBefore: date - year, notAfter: date + year)
            .issued(to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        return SigningAuthority(
            root: root, rootKey: rootKey, intermediate: intermediate, intermediateKey: intermediateKey, leaf: leaf,
            leafKey: leafKey)
    }

    /// Changes the first character of the signature, whose six bits all count.
    private static func turningOneBit(_ token: String) -> String {
        guard let dot = token.lastIndex(of: ".") else { return token }
        let signature = token[token.index(after: dot)...]
        return token[...dot] + (signature.first == "A" ? "B" : "A") + signature.dropFirst()
    }
}
