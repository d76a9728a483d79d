import AppStoreAPI
import Foundation
import OpenSSL

extension SigningAuthority {
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
        let year: TimeInterval = 365 * 86_400
        let end = tampering == .expiredCertificate ? date - year : date + year
        let leaf = try Self.leafBuilder(
            notBefore: end - 2 * year, notAfter: end, marked: tampering != .missingLeafExtension
        ).issued(to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        return SigningAuthority(
            root: root, rootKey: rootKey, intermediate: intermediate, intermediateKey: intermediateKey, leaf: leaf,
            leafKey: leafKey)
    }

    private func withUnmarkedIntermediate(at date: Date) throws(OpenSSLError) -> SigningAuthority {
        let year: TimeInterval = 365 * 86_400
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
