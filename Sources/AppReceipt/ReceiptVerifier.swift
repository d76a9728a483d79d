package import Foundation
package import OpenSSL

/// Tells whether Apple signed an app receipt, offline: nothing but the receipt, our pinned roots and its creation date.
///
/// The steps: the container and what it says, the content against the digest in the signed attributes (if it has those),
/// leaf and intermediate up to a pinned root, all valid at the creation date, Apple's marker extensions on both, and the
/// signature.
/// Source: "Validating receipts on the device", https://developer.apple.com/documentation/appstorereceipts
package struct ReceiptVerifier: Sendable {
    /// The marker extension of a leaf that signs receipts.
    package static let leafExtension = "1.2.840.113635.100.6.11.1"
    /// The marker extension of Apple's intermediate.
    package static let intermediateExtension = "1.2.840.113635.100.6.2.1"
    /// From here on Apple signs no receipt with SHA-1 any more: 2025-01-24.
    ///
    /// Source: https://developer.apple.com/documentation/technotes/tn3138-handling-app-store-receipt-signing-certificate-changes
    package static let lastOfSHA1 = Date(timeIntervalSince1970: 1_737_676_800)

    private let roots: [Certificate]
    private let limits: ReceiptLimits
    private let acceptsSHA1: Bool

    /// A verifier that trusts these roots alone.
    ///
    /// - Parameters:
    ///   - roots: Few: each may be tried.
    ///   - limits: What a receipt may cost.
    ///   - acceptsSHA1: Whether SHA-1 will do for receipts of any date, and not only for those from before ``lastOfSHA1``.
    package init(roots: [Certificate], limits: ReceiptLimits = ReceiptLimits(), acceptsSHA1: Bool = false) {
        self.roots = roots
        self.limits = limits
        self.acceptsSHA1 = acceptsSHA1
    }

    /// Reads a receipt and judges it.
    ///
    /// Takes time in proportion to its bytes: tens of milliseconds for ten thousand purchases.
    ///
    /// - Parameter bytes: The container, without Base64.
    /// - Returns: What it says, and whether that is to be believed.
    /// - Throws: ``ReceiptDecodingError`` for what is no receipt at all.
    package func verify(_ bytes: [UInt8]) throws(ReceiptDecodingError) -> JudgedReceipt {
        // Bounds what libcrypto is given.
        _ = try ReceiptContainer(bytes, limits)
        let data: CMSSignedData
        do throws(CMSError) {
            data = try CMSSignedData(ber: bytes)
        } catch {
            throw ReceiptDecodingError(.container(error.description))
        }
        guard let content = data.content else {
            throw ReceiptDecodingError(.malformed(expected: "a content within the container"))
        }
        let receipt = try ReceiptParser.parse(content, limits)
        return JudgedReceipt(receipt: receipt, refusal: refusal(of: data, saying: receipt))
    }

    private func refusal(of data: borrowing CMSSignedData, saying receipt: AppReceipt) -> ReceiptRefusal? {
        if receipt.environment == .xcode { return .xcodeEnvironment }
        do throws(ReceiptRefusal) {
            try judge(data, createdAt: receipt.creationDate)
            return nil
        } catch {
            return error
        }
    }

    private func judge(_ data: borrowing CMSSignedData, createdAt date: Date) throws(ReceiptRefusal) {
        let signer: CMSSignerInfo
        do throws(CMSError) {
            signer = try data.signer()
        } catch {
            throw .noSigner(error.description)
        }
        if try Self.asking({ () throws(OpenSSLError) in try data.contentMatchesSignedAttributes(of: signer) }) == false
        {
            throw .alteredContent
        }
        let acceptsSHA1 = acceptsSHA1 || date < Self.lastOfSHA1
        guard signer.digest != .sha1 || acceptsSHA1 else { throw .sha1TooNew }
        do throws(CertificateChainError) {
            _ = try CertificateChain.verifyPath(
                leaf: signer.certificate, intermediates: data.certificates, roots: roots, at: date,
                strength: acceptsSHA1 ? .acceptingSHA1 : .current, requiredLeafExtension: Self.leafExtension,
                requiredIntermediateExtension: Self.intermediateExtension)
        } catch {
            throw ReceiptRefusal(error)
        }
        switch try Self.asking({ () throws(OpenSSLError) in try data.checkSignature(of: signer) }) {
        case .valid: return
        case .invalid: throw .badSignature
        case .otherContent: throw .alteredContent
        }
    }

    /// A failure of libcrypto's own is no verdict about the receipt.
    private static func asking<Value>(
        _ question: () throws(OpenSSLError) -> Value
    ) throws(ReceiptRefusal) -> Value {
        do throws(OpenSSLError) {
            return try question()
        } catch {
            throw .library(error.description)
        }
    }
}

/// What a receipt says, and whether that is to be believed.
package struct JudgedReceipt: Sendable, Equatable {
    package let receipt: AppReceipt
    /// Why not; nil for a receipt that Apple signed as it is.
    package let refusal: ReceiptRefusal?

    /// Whether Apple signed it as it is.
    package var isGenuine: Bool { refusal == nil }
}

/// Why a receipt is not to be believed.
package enum ReceiptRefusal: Error, Sendable, Equatable {
    /// Signed by a developer's machine: no proof, and no fraud either.
    case xcodeEnvironment
    /// Nobody signed it, or its signer cannot be told; the associated value says why.
    case noSigner(String)
    /// Something was signed, but not this content.
    case alteredContent
    /// The signer's key does not confirm the signature.
    case badSignature
    /// The certificates do not lead to a pinned root; the associated value says where it fails.
    case untrustedChain(String)
    /// A certificate lacks Apple's marker extension.
    case missingMarker(CertificateChainError.Role, oid: String)
    /// A certificate was not valid when the receipt was made.
    case notValidAtCreation(CertificateChainError.Role)
    /// Signed with SHA-1 after Apple had ceased to do so.
    case sha1TooNew
    /// libcrypto failed for another reason than the receipt: no verdict.
    case library(String)

    init(_ error: CertificateChainError) {
        self =
            switch error.reason {
            case .missingExtension(let oid): .missingMarker(error.certificate, oid: oid)
            case .expired, .notYetValid: .notValidAtCreation(error.certificate)
            case .library: .library(error.description)
            default: .untrustedChain(error.description)
            }
    }
}

extension ReceiptRefusal: CustomStringConvertible {
    /// The reason, in a phrase for people.
    package var description: String {
        switch self {
        case .xcodeEnvironment: "signed locally by Xcode"
        case .noSigner(let text): text
        case .alteredContent: "the content was altered after it was signed"
        case .badSignature: "the signature is not that of the signer's key"
        case .untrustedChain(let text): "the certificates are not Apple's: \(text)"
        case .missingMarker(let role, let oid): "the \(role.rawValue) certificate lacks Apple's extension \(oid)"
        case .notValidAtCreation(let role): "the \(role.rawValue) certificate was not valid when the receipt was made"
        case .sha1TooNew: "signed with SHA-1 after Apple had ceased to do so"
        case .library(let text): text
        }
    }
}
