import AppReceipt
import Foundation
import OpenSSL

// What `make fuzz-receipts` builds with libFuzzer and address sanitizer; no test and no program holds it.

/// What every input goes through, and what must hold of it.
struct ReceiptFuzzer: Sendable {
    let verifier: ReceiptVerifier
    /// The contents that were really signed.
    let signedContents: Set<[UInt8]>

    /// `RECEIPT_RESOURCES` names the folder with the corpus and the root that signed it.
    static let shared: ReceiptFuzzer = {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["RECEIPT_RESOURCES"] ?? ".")
        func bytes(_ url: URL) -> [UInt8] { (try? Data(contentsOf: url)).map(Array.init) ?? [] }
        let corpus = folder.appending(path: "corpus")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: corpus.path)) ?? []
        let contents = names.compactMap { try? CMSSignedData(ber: bytes(corpus.appending(path: $0))).content }
        guard let root = try? Certificate(der: bytes(folder.appending(path: "root.der"))), !contents.isEmpty else {
            fatalError("RECEIPT_RESOURCES names no folder with a corpus")
        }
        return ReceiptFuzzer(verifier: ReceiptVerifier(roots: [root]), signedContents: Set(contents))
    }()

    /// Reads an input in every way there is.
    ///
    /// A crash is a finding, and so is a forgery that is believed.
    func run(_ bytes: [UInt8]) {
        _ = try? TransactionIDExtraction.transactionID(in: bytes)
        _ = try? LegacyTransactionReceipt(bytes)
        guard let judged = try? verifier.verify(bytes), judged.isGenuine else { return }
        guard let content = try? CMSSignedData(ber: bytes).content, signedContents.contains(content) else {
            fatalError("a content is believed that nobody signed")
        }
    }
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ReceiptFuzzer.shared.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
