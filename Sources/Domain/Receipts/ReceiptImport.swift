// Receipts that were kept elsewhere until now, taken over in batches.

extension ReceiptService {
    /// The most receipts of one request.
    package static let maximumImport = 100
    /// How many of them are verified at the same time: beside those that apps send.
    private static let concurrency = 2

    /// What became of an imported receipt.
    package enum ImportOutcome: String, Sendable {
        /// It is kept, and Apple is still to be asked.
        case queued
        /// It is kept, and Apple has told of it.
        case confirmed
        /// A dry run would keep it.
        case valid
    }

    /// Verifies and keeps receipts as uploads are, each by itself; the same ones again are the same receipts.
    ///
    /// Nobody waits for Apple: it is asked by the queue, whose calls come after all others in the budget. What a receipt teaches is
    /// learnt when Apple has answered.
    ///
    /// `isDryRun`: they are verified alone.
    ///
    /// - Returns: what became of each, in their order; `invalidRequest` names the field `receipt` and as rule what `upload`
    ///   does, or what is wrong with its signature.
    /// - Throws: `storeUnavailable`, `verificationBusy`: some are kept then, and all may be sent again.
    package func importReceipts(
        _ uploads: [ReceiptUpload], app: App, isDryRun: Bool, by actor: Actor
    ) async throws(ServiceError) -> [Result<ImportOutcome, ServiceError>] {
        let results = try await FanOut.results(of: uploads, atMost: Self.concurrency, isPartialAllowed: true) {
            upload throws(ServiceError) in
            switch try await read(upload, among: [app], for: .known(actor)) {
            case .refused(let fault): throw Self.refusal(fault)
            case .draft(let draft, _):
                if isDryRun { return ImportOutcome.valid }
                return try await store.keep(draft).nextAttemptAt == nil ? .confirmed : .queued
            }
        }
        if !isDryRun {
            await audit.settle(
                AuditAct(.receiptsImported, by: actor, app: app.slug, details: AuditAct.counts(of: results)))
        }
        for case .failure(let error) in results
        where error.reason == .storeUnavailable || error.reason == .verificationBusy { throw error }
        return results
    }

    private static func refusal(_ fault: ReceiptSignatureFault) -> ServiceError {
        .invalid([
            Violation(
                field: "receipt", rule: fault.rawValue,
                message: "Apple did not sign this receipt; leave it out, and look at whoever sent it.")
        ])
    }
}
