import Domain
import HTTPTypes
import JSON

/// Taking receipts over from where they were kept before, for operators.
struct ReceiptImportRoutes: Sendable {
    let service: ReceiptService

    /// `POST /v1/apps/{app}/receipts:import`.
    func importReceipts(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let batch = try RequestBatch(input, "receipts", atMost: ReceiptService.maximumImport)
        let metadata = batch.raw(in: input).map { $0?.object?["metadata"].map { Array($0.rawBytes) } }
        let read = zip(batch.elements, metadata).map { element, metadata in
            Result { () throws(ServiceError) in
                try FieldReader.read(try RequestBatch.members(of: element)) {
                    // The request comes from the operator and not from where the receipt did.
                    ReceiptUpload(&$0, metadata: metadata, requestAddress: nil)
                }
            }
        }
        let uploads = read.compactMap { try? $0.get() }
        let results = try await service.importReceipts(uploads, app: app, isDryRun: batch.isDryRun, by: input.actor)
        return batch.answer(read, results.map { $0.map(\.rawValue) }, requestID: input.requestID)
    }
}
