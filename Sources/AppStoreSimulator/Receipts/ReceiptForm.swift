package import OpenSSL

/// How a receipt is signed and written, and what is wrong with it.
package struct ReceiptForm: Sendable, Equatable {
    /// SHA-1 until 2023 to 2025, depending on where the receipt comes from; SHA-256 since.
    package var digest: DigestAlgorithm = .sha256
    /// What signs the intermediate and the leaf; nil for the same digest, as it was.
    package var certificateDigest: DigestAlgorithm?
    /// Whether signed attributes, with the creation date as signing time, stand between content and signature.
    package var hasSignedAttributes = true
    package var encoding: CMSSigner.Encoding = .der
    /// What is wrong; nil for a good receipt.
    package var tampering: ReceiptTampering?

    /// A good receipt of today.
    package init() {}

    /// A good receipt of today with something wrong about it.
    package init(_ tampering: ReceiptTampering) { self.tampering = tampering }

    /// A good receipt of a digest, as of old with SHA-1: the content itself is signed.
    package init(_ digest: DigestAlgorithm) {
        self.digest = digest
        hasSignedAttributes = digest != .sha1
    }
}

/// A way to issue an app receipt that nobody may accept.
package enum ReceiptTampering: String, Sendable, Hashable, CaseIterable {
    /// The content was changed after it was signed: the first purchase's transaction id, or the app's version where there is none.
    case alteredPayload
    /// One bit of the signature is turned.
    case wrongSignature
    /// The chain is sound but ends in another root, which it brings along.
    case foreignRoot
    /// The leaf lacks Apple's marker extension.
    case missingLeafExtension
    /// The intermediate lacks Apple's marker extension.
    case missingIntermediateExtension
    /// The leaf had expired a year before the creation date.
    case expiredCertificate
    /// The second half of the bytes is missing.
    case truncated
}

extension ReceiptTampering {
    /// Does to a finished receipt what is done to it after signing.
    ///
    /// - Parameters:
    ///   - bytes: the receipt.
    ///   - receipt: what it says.
    func spoil(_ bytes: inout [UInt8], saying receipt: IssuedReceipt) {
        switch self {
        case .alteredPayload: Self.alter(&bytes, saying: receipt)
        case .wrongSignature: Self.turnOneBit(&bytes)
        case .truncated: bytes.removeLast(bytes.count / 2)
        case .foreignRoot, .missingLeafExtension, .missingIntermediateExtension, .expiredCertificate: break
        }
    }

    /// Changes the last character of a text in the content, so that it can still be read.
    private static func alter(_ bytes: inout [UInt8], saying receipt: IssuedReceipt) {
        let text = receipt.purchases.first?.transactionID ?? receipt.applicationVersion
        let encoded = DER.element(DER.utf8String, Array(text.utf8))
        guard let found = bytes.firstRange(of: encoded) else { return }
        bytes[found.upperBound - 1] ^= 1
    }

    /// The signature is the last octet string; after it stand at most the ends of indefinite lengths, zeros in pairs.
    private static func turnOneBit(_ bytes: inout [UInt8]) {
        let signatureCount = 256
        let tagAndLength: [UInt8] = [DER.octetString, 0x82, 0x01, 0x00]
        for ends in stride(from: 0, through: 16, by: 2) {
            let start = bytes.count - ends - signatureCount
            guard start >= tagAndLength.count else { return }
            guard bytes[(start - tagAndLength.count)..<start].elementsEqual(tagAndLength) else { continue }
            bytes[start] ^= 1
            return
        }
    }
}
