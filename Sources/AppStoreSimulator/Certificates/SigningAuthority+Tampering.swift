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
        switch tampering {
        case .wrongBundleId:
            payload.bundleId = (payload.bundleId ?? "") + ".other"
            return try sign(payload, at: date)
        case .wrongEnvironment:
            payload.environment = payload.environment == .production ? .sandbox : .production
            return try sign(payload, at: date)
        case .wrongSignature:
            return Self.turningOneBit(try sign(payload, at: date))
        case .foreignRoot:
            return try SigningAuthority(generatingAt: date).sign(payload, at: date)
        case .expiredCertificate, .missingLeafExtension:
            return try withNewLeaf(at: date, tampering).sign(payload, at: date)
        case .missingIntermediateExtension:
            return try withUnmarkedIntermediate(at: date).sign(payload, at: date)
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
