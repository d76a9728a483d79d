import Foundation
import OpenSSL

@testable import AppReceipt
@testable import AppStoreSimulator

/// Receipts as the simulator issues them, below one root for all tests, since its keys take a moment to make.
enum ReceiptFixtures {
    /// After Apple had ceased to sign with SHA-1.
    static let now = Date(timeIntervalSince1970: 1_750_000_000)
    /// When Apple still signed with it.
    static let old = Date(timeIntervalSince1970: 1_500_000_000)

    private static let sharedIssuer = Result { try ReceiptIssuer(generatingAt: now) }
    static var issuer: ReceiptIssuer { get throws { try sharedIssuer.get() } }

    static func receipt(purchases count: Int = 2, at date: Date = now) -> IssuedReceipt {
        var receipt = IssuedReceipt(bundleID: "com.example.coins", creationDate: date)
        receipt.purchases = (0..<count).map {
            IssuedPurchase(
                productID: "coins.100", transactionID: String(2_000_000_100_000_000 + $0), purchaseDate: date)
        }
        return receipt
    }

    static func appReceipt(
        _ form: ReceiptForm = ReceiptForm(), purchases: Int = 2, at date: Date = now
    ) throws -> [UInt8] {
        try issuer.appReceipt(receipt(purchases: purchases, at: date), form)
    }

    static func verifier(acceptsSHA1: Bool = false, _ limits: ReceiptLimits = ReceiptLimits()) throws -> ReceiptVerifier
    {
        ReceiptVerifier(roots: [try issuer.root], limits: limits, acceptsSHA1: acceptsSHA1)
    }

    /// Every way to sign and write a good receipt.
    static let forms: [ReceiptForm] = DigestAlgorithm.allCases.flatMap { digest in
        [CMSSigner.Encoding.der, .indefiniteLengths].flatMap { encoding in
            [true, false].map { hasSignedAttributes in
                var form = ReceiptForm(digest)
                form.encoding = encoding
                form.hasSignedAttributes = hasSignedAttributes
                return form
            }
        }
    }

    /// Signs a content with a key on a curve, by a chain that is good unless it is changed.
    static func signedOnCurve(
        _ content: [UInt8], signedAttributes: Bool, digest: DigestAlgorithm = .sha256,
        change: (inout CMSSigner) -> Void = { _ in }
    ) throws -> (bytes: [UInt8], root: Certificate) {
        let year: TimeInterval = 365 * 86_400
        let rootKey = try IssuingKey(generating: .p384)
        let root = try CertificateBuilder.authority("Root", notBefore: now - year, notAfter: now + year)
            .selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .p384)
        var builder = CertificateBuilder.authority(
            "Intermediate", notBefore: now - year, notAfter: now + year, pathLength: 0)
        builder.markerExtensions = [ReceiptVerifier.intermediateExtension]
        let intermediate = try builder.issued(to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        let leafKey = try IssuingKey(generating: .p256)
        builder = CertificateBuilder.signer("Leaf", notBefore: now - year, notAfter: now + year)
        builder.markerExtensions = [ReceiptVerifier.leafExtension]
        let leaf = try builder.issued(
            to: leafKey.subjectPublicKeyInfo(), by: intermediate, key: intermediateKey)
        var signer = CMSSigner(certificate: leaf, key: leafKey)
        signer.otherCertificates = [intermediate]
        signer.digest = digest
        signer.signingTime = signedAttributes ? now : nil
        change(&signer)
        return (try signer.sign(content), root)
    }
}
