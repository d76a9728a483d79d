package import Domain
package import Foundation
import Synchronization

/// Reads the receipts that it has been told of, by their bytes; all others are none.
package final class FakeReceiptReader: ReceiptReader {
    private let answers = Mutex<[[UInt8]: Result<ReceiptContent, ReceiptFault>]>([:])

    package init() {}

    /// Lets a text be the bytes of a receipt.
    ///
    /// - Returns: the bytes.
    @discardableResult
    package func know(_ text: String, as answer: Result<ReceiptContent, ReceiptFault>) -> [UInt8] {
        answers.withLock { $0[Array(text.utf8)] = answer }
        return Array(text.utf8)
    }

    package func content(
        of bytes: [UInt8], device: UUID?, for requester: Requester
    ) async throws(ReceiptFault) -> ReceiptContent {
        guard let answer = answers.withLock({ $0[bytes] }) else { throw .undecodable("it is no container") }
        var content = try answer.get()
        if device == nil { content.deviceCheck = .unchecked }
        return content
    }

    package func transactionID(in bytes: [UInt8], for requester: Requester) async throws(ReceiptFault) -> String? {
        guard let answer = answers.withLock({ $0[bytes] }) else { throw .undecodable("it is no container") }
        // Whoever signed it: nothing is verified.
        guard case .success(let content) = answer else { return nil }
        return content.purchases.lazy.compactMap(\.transactionID).first
    }
}
