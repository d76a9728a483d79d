package import Foundation
package import OpenSSL
import Synchronization

/// Issues receipts as the App Store does, signed by an RSA key whose chain ends in the root that signs transactions.
///
/// Apple has two roots, an older one with RSA for receipts (Apple Inc. Root) and Apple Root CA - G3 for transactions; who
/// trusts the simulator trusts one. Signers are valid for about two years before and after what they sign, so that old receipts have
/// signers that have long expired. What is issued twice comes out the same.
package final class ReceiptIssuer: Sendable {
    /// Where the chain ends: what a verifier pins.
    package let root: Certificate
    private let rootKey: IssuingKey
    // RSA keys take a moment to make, and most simulators issue no receipt.
    private let signers = Mutex<ReceiptSigners?>(nil)

    init(root: Certificate, rootKey: IssuingKey) {
        self.root = root
        self.rootKey = rootKey
    }

    /// Issues below a new root of its own.
    ///
    /// - Parameter now: the root is valid from 2006, as Apple's is, and for 20 years from now.
    /// - Throws: `OpenSSLError`
    package convenience init(generatingAt now: Date) throws(OpenSSLError) {
        let key = try IssuingKey(generating: .p384)
        self.init(root: try SigningAuthority.rootBuilder(at: now).selfSigned(by: key), rootKey: key)
    }

    /// Issues an app receipt.
    ///
    /// - Returns: PKCS #7 signedData; apps send it in Base64.
    /// - Throws: `OpenSSLError`
    package func appReceipt(
        _ receipt: IssuedReceipt, _ form: ReceiptForm = ReceiptForm()
    ) throws(OpenSSLError) -> [UInt8] {
        if form.tampering == .foreignRoot {
            var form = form
            form.tampering = nil
            return try ReceiptIssuer(generatingAt: receipt.creationDate).appReceipt(receipt, form)
        }
        let signer = try signers.withLock { signers throws(OpenSSLError) in
            var known: ReceiptSigners
            if let signers { known = signers } else { known = try ReceiptSigners(root: root, rootKey: rootKey) }
            defer { signers = known }
            return try known.signer(at: receipt.creationDate, form)
        }
        return try sign(receipt, form, by: signer)
    }

    /// Issues an app receipt as Xcode does for apps that it runs: signed by a certificate that nobody vouches for, and
    /// written with indefinite lengths.
    ///
    /// - Parameters:
    ///   - receipt: what it says; the environment is set here.
    ///   - form: its encoding is not looked at.
    /// - Returns: PKCS #7 signedData.
    /// - Throws: `OpenSSLError`
    package func xcodeReceipt(
        _ receipt: IssuedReceipt, _ form: ReceiptForm = ReceiptForm()
    ) throws(OpenSSLError) -> [UInt8] {
        var receipt = receipt
        receipt.environment = "Xcode"
        receipt.expirationDate = receipt.expirationDate ?? Date(timeIntervalSince1970: 64_092_211_200)
        var form = form
        form.encoding = .indefiniteLengths
        let key = try IssuingKey(generating: .rsa2048)
        let certificate = try CertificateBuilder.signer(
            "StoreKit Testing in Xcode", notBefore: receipt.creationDate - SigningAuthority.year,
            notAfter: receipt.creationDate + SigningAuthority.year
        ).selfSigned(by: key)
        return try sign(receipt, form, by: CMSSigner(certificate: certificate, key: key))
    }

    private func sign(
        _ receipt: IssuedReceipt, _ form: ReceiptForm, by signer: CMSSigner
    ) throws(OpenSSLError) -> [UInt8] {
        var signer = signer
        signer.digest = form.digest
        signer.encoding = form.encoding
        signer.signingTime = form.hasSignedAttributes ? receipt.creationDate : nil
        var bytes = try signer.sign(receipt.encoded())
        form.tampering?.spoil(&bytes, saying: receipt)
        return bytes
    }
}

/// The keys that sign receipts, and the certificates they have had.
private struct ReceiptSigners: Sendable {
    /// What a certificate is issued for.
    private struct Term: Hashable {
        let year: Int
        let digest: DigestAlgorithm
    }

    private let root: Certificate
    private let rootKey: IssuingKey
    private let intermediateKey: IssuingKey
    private let leafKey: IssuingKey
    /// The good signers so far.
    private var known: [Term: CMSSigner] = [:]

    init(root: Certificate, rootKey: IssuingKey) throws(OpenSSLError) {
        self.root = root
        self.rootKey = rootKey
        intermediateKey = try IssuingKey(generating: .rsa2048)
        leafKey = try IssuingKey(generating: .rsa2048)
    }

    /// Who signs at a time, or a signer with something wrong.
    mutating func signer(at date: Date, _ form: ReceiptForm) throws(OpenSSLError) -> CMSSigner {
        let digest = form.certificateDigest ?? form.digest
        switch form.tampering {
        case .missingLeafExtension, .missingIntermediateExtension, .expiredCertificate:
            return try newSigner(at: date, digest, form.tampering)
        case nil, .alteredPayload, .wrongSignature, .foreignRoot, .truncated:
            let year = Int((date.timeIntervalSince1970 / SigningAuthority.year).rounded(.down))
            let term = Term(year: year, digest: digest)
            if let signer = known[term] { return signer }
            let middle = Date(timeIntervalSince1970: (Double(year) + 0.5) * SigningAuthority.year)
            let signer = try newSigner(at: middle, digest, nil)
            known[term] = signer
            return signer
        }
    }

    private func newSigner(
        at date: Date, _ digest: DigestAlgorithm, _ tampering: ReceiptTampering?
    ) throws(OpenSSLError) -> CMSSigner {
        let year = SigningAuthority.year
        var builder = SigningAuthority.intermediateBuilder(
            notBefore: root.notBefore, notAfter: root.notAfter, marked: tampering != .missingIntermediateExtension)
        builder.signatureDigest = digest
        let intermediate = try builder.issued(
            to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        let end = tampering == .expiredCertificate ? date - year : date + 2 * year
        builder = SigningAuthority.leafBuilder(
            notBefore: min(end, date) - 2 * year, notAfter: end, marked: tampering != .missingLeafExtension)
        builder.commonName = "App Store Simulator Receipt Signing"
        builder.signatureDigest = digest
        let leaf = try builder.issued(
            to: leafKey.subjectPublicKeyInfo(), by: intermediate, key: intermediateKey)
        var signer = CMSSigner(certificate: leaf, key: leafKey)
        signer.otherCertificates = [intermediate, root]
        return signer
    }
}
