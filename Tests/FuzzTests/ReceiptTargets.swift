import Foundation
import OpenSSL

@testable import AppReceipt

/// Receipts of either style.
let receiptTargets = [
    FuzzTarget(name: "receipt") { bytes in
        _ = try? TransactionIDExtraction.transactionID(in: bytes)
        if let receipt = try? LegacyTransactionReceipt(bytes) {
            try hold(!receipt.transactionID.isEmpty && !receipt.bundleID.isEmpty, "a receipt of nothing")
        }
        let genuine = try GenuineReceipts.shared.get()
        guard let judged = try? genuine.verifier.verify(bytes), judged.isGenuine else { return }
        // What is changed around the content may leave it as it was signed.
        let content = try CMSSignedData(ber: bytes).content
        try hold(content.map(genuine.contents.contains) == true, "a content is believed that nobody signed")
    }
]

/// Who signed the receipts of the corpus, and what.
private struct GenuineReceipts: Sendable {
    let verifier: ReceiptVerifier
    let contents: Set<[UInt8]>

    static let shared = Result {
        let signed = try FuzzTarget.signed(in: "receipt")
        let root = try Certificate(der: try FuzzTarget.fixture("receipt-root.der"))
        return GenuineReceipts(
            verifier: ReceiptVerifier(roots: [root]),
            contents: Set(try signed.compactMap { try CMSSignedData(ber: $0).content }))
    }
}
