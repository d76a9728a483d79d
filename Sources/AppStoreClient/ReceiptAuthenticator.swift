import AppReceipt
package import Domain
package import Foundation
package import OpenSSL

/// Reads the receipts that apps send, and tells whether Apple signed them.
///
/// A receipt of ten thousand purchases takes tens of milliseconds, so that none is read on the threads that serve requests:
/// a few are read at once on threads of their own, a few wait, and the rest is shed.
package struct ReceiptAuthenticator: ReceiptReader {
    /// How many receipts wait for their turn at most, each of which may have 8 MiB.
    static let maximumWaiting = 32

    private let verifier: ReceiptVerifier
    private let limits: ReceiptLimits
    private let bound: ChainCheckBound
    private let queue = DispatchQueue(label: "receipts", qos: .userInitiated, attributes: .concurrent)

    /// `roots`: the pinned certificates; `acceptsSHA1`: whether SHA-1 will do for receipts of any date; `concurrentChecks`: how
    /// many receipts are read at the same time.
    package init(
        roots: [Certificate], acceptsSHA1: Bool = false,
        concurrentChecks: Int = ChainCheckBound.defaultConcurrency
    ) {
        self.init(
            roots: roots, acceptsSHA1: acceptsSHA1,
            bound: ChainCheckBound(underWay: concurrentChecks, waiting: Self.maximumWaiting))
    }

    init(
        roots: [Certificate], acceptsSHA1: Bool = false, limits: ReceiptLimits = ReceiptLimits(), bound: ChainCheckBound
    ) {
        verifier = ReceiptVerifier(roots: roots, limits: limits, acceptsSHA1: acceptsSHA1)
        self.limits = limits
        self.bound = bound
    }

    package func content(
        of bytes: [UInt8], device: UUID?, for requester: Requester
    ) async throws(ReceiptFault) -> ReceiptContent {
        try await reading(for: requester) {
            do throws(ReceiptDecodingError) {
                switch try ReceiptStyle(of: bytes) {
                case .transaction: return .success(ReceiptContent(try LegacyTransactionReceipt(bytes, limits)))
                case .app:
                    let judged = try verifier.verify(bytes)
                    if let refusal = judged.refusal { return .failure(ReceiptFault(refusal)) }
                    return .success(ReceiptContent(judged.receipt, device: device))
                }
            } catch {
                return .failure(.undecodable(error.description))
            }
        }
    }

    package func transactionID(
        in bytes: [UInt8], for requester: Requester
    ) async throws(ReceiptFault) -> String? {
        try await reading(for: requester) {
            do throws(ReceiptDecodingError) {
                return .success(try TransactionIDExtraction.transactionID(in: bytes, limits))
            } catch {
                return .failure(.undecodable(error.description))
            }
        }
    }

    /// Runs a body on the threads for receipts when there is room for it.
    private func reading<Value: Sendable>(
        for requester: Requester, _ body: @escaping @Sendable () -> Result<Value, ReceiptFault>
    ) async throws(ReceiptFault) -> Value {
        guard await bound.enter(requester) else { throw .busy }
        defer { bound.leave() }
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
        return try result.get()
    }
}

extension ReceiptFault {
    fileprivate init(_ refusal: ReceiptRefusal) {
        self =
            switch refusal {
            case .xcodeEnvironment: .xcode
            case .noSigner, .badSignature: .signature(.signatureInvalid)
            case .alteredContent: .signature(.contentAltered)
            case .untrustedChain, .notValidAtCreation: .signature(.chainNotTrusted)
            case .missingMarker: .signature(.markerMissing)
            case .sha1TooNew: .signature(.algorithmNotAccepted)
            // No memory to look at it: it may be tried again.
            case .library: .busy
            }
    }
}

extension ReceiptContent {
    fileprivate init(_ receipt: AppReceipt, device: UUID?) {
        self.init(
            style: .unified, isVerified: true, bundleID: receipt.bundleID, environmentName: receipt.environment?.name,
            createdAt: receipt.creationDate, applicationVersion: receipt.applicationVersion,
            originalApplicationVersion: receipt.originalApplicationVersion,
            deviceCheck: Self.deviceCheck(receipt, device), purchases: receipt.purchases.map(Purchase.init))
    }

    private static func deviceCheck(_ receipt: AppReceipt, _ device: UUID?) -> DeviceCheck {
        guard let device, !receipt.deviceHash.isEmpty else { return .unchecked }
        let identifier = withUnsafeBytes(of: device.uuid) { Array($0) }
        guard let matches = try? receipt.matches(deviceIdentifier: identifier) else { return .unchecked }
        return matches ? .matches : .mismatch
    }

    fileprivate init(_ receipt: LegacyTransactionReceipt) {
        self.init(
            style: .transaction, isVerified: false, bundleID: receipt.bundleID,
            environmentName: receipt.environment?.name, createdAt: nil, applicationVersion: receipt.applicationVersion,
            purchases: [
                Purchase(
                    transactionID: receipt.transactionID, originalTransactionID: receipt.originalTransactionID,
                    productID: receipt.productID, quantity: receipt.quantity, purchaseDate: receipt.purchaseDate,
                    originalPurchaseDate: receipt.originalPurchaseDate, expiresDate: receipt.expirationDate,
                    webOrderLineItemID: receipt.webOrderLineItemID.map(String.init),
                    cancellationDate: receipt.cancellationDate,
                    isInIntroductoryOfferPeriod: receipt.isInIntroductoryOfferPeriod)
            ])
    }
}

extension ReceiptContent.Purchase {
    fileprivate init(_ purchase: ReceiptPurchase) {
        self.init(
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            productID: purchase.productID, quantity: purchase.quantity, purchaseDate: purchase.purchaseDate,
            originalPurchaseDate: purchase.originalPurchaseDate, expiresDate: purchase.expirationDate,
            webOrderLineItemID: purchase.webOrderLineItemID.map(String.init),
            cancellationDate: purchase.cancellationDate,
            isInIntroductoryOfferPeriod: purchase.isInIntroductoryOfferPeriod)
    }
}
