import Foundation

/// What is decided about receipts by the configuration.
package struct ReceiptPolicy: Sendable {
    /// Whether the bytes of receipts are kept.
    package var keepsRawReceipts = false
    /// How many users may have sent one purchase before it is told by a flag: restoring and shared devices are common.
    package var usersPerTransaction = 3
    /// How long an upload waits for Apple.
    package var wait: Duration = .seconds(5)

    package init() {}
}

/// What an upload comes to.
package enum ReceiptAnswer: Sendable {
    /// Apple has answered now or a moment ago: 200. The receipt may be fraud by what Apple says.
    case confirmed(Receipt)
    /// The signature is Apple's, or of the style that cannot tell, and Apple could not be asked or does not know it yet: 206.
    /// It is kept, and asked about until there is an answer.
    case queued(Receipt)
    /// The signature is not Apple's: 402. Nothing is kept.
    case refused(ReceiptSignatureFault)
}

/// Takes receipts that apps send, and tells what became of them.
package struct ReceiptService: Sendable {
    private let reader: any ReceiptReader
    let store: any ReceiptStore
    private let confirmer: ReceiptConfirmer
    private let policy: ReceiptPolicy
    let audit: any AuditTrail
    private let clock: ServiceClock
    private let makeID: @Sendable (Date) -> String
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let identifiers: ReceiptIdentifiers

    init(
        reader: any ReceiptReader, store: any ReceiptStore, confirmer: ReceiptConfirmer, policy: ReceiptPolicy,
        audit: any AuditTrail, clock: ServiceClock, makeID: @escaping @Sendable (Date) -> String,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.reader = reader
        self.store = store
        self.confirmer = confirmer
        self.policy = policy
        self.audit = audit
        self.clock = clock
        self.makeID = makeID
        self.digest = digest
        identifiers = ReceiptIdentifiers(digest: digest)
    }

    /// Verifies a receipt, keeps it, and asks Apple about it.
    ///
    /// - Parameters:
    ///   - upload: what the app sent.
    ///   - apps: those that it may be a receipt of: the one of the path, or all those of the caller.
    ///   - caller: on whose account Apple is asked.
    /// - Returns: what it comes to.
    /// - Throws: `invalidRequest` whose violations name the field `receipt` and as rule what is wrong: `format` (it cannot be
    ///   read), `XCODE_ENVIRONMENT`, `bundleId` (no app of these has it) or `ENVIRONMENT_NOT_ALLOWED`: 422 of this API;
    ///   `verificationBusy`, `storeUnavailable`.
    package func upload(
        _ upload: ReceiptUpload, among apps: [App], caller: String
    ) async throws(ServiceError) -> ReceiptAnswer {
        switch try await read(upload, among: apps, for: .known(.caller(caller))) {
        case .refused(let fault): return .refused(fault)
        case .draft(let draft, let app):
            let receipt = try await store.keep(draft)
            guard receipt.nextAttemptAt != nil else { return .confirmed(receipt) }
            return await confirmer.confirm(receipt, app: app, caller: caller)
        }
    }

    /// What an upload holds.
    enum Reading {
        /// The receipt as it would be if it were new, and the app that it is of.
        case draft(Receipt, App)
        case refused(ReceiptSignatureFault)
    }

    /// Verifies a receipt; nothing is kept.
    ///
    /// - Throws: as `upload`.
    func read(
        _ upload: ReceiptUpload, among apps: [App], for requester: Requester
    ) async throws(ServiceError) -> Reading {
        let content: ReceiptContent
        do throws(ReceiptFault) {
            content = try await reader.content(
                of: upload.receipt, device: upload.identifierForVendor, for: requester)
        } catch {
            if case .signature(let fault) = error { return .refused(fault) }
            throw ReceiptRules.error(of: error)
        }
        let app = try ReceiptRules.app(of: content, among: apps)
        let now = clock.now()
        let draft = ReceiptRules.draft(
            id: makeID(now), digest: digest(upload.receipt), upload, content, of: app,
            isRawKept: policy.keepsRawReceipts, at: now)
        return .draft(draft, app)
    }

    /// A transaction id out of a receipt of either style, as Apple's receipt utility finds it: nothing is verified or kept.
    ///
    /// - Returns: the id; nil when there is none.
    /// - Throws: `invalidRequest` naming the field `receipt`, `verificationBusy`.
    package func transactionID(
        in bytes: [UInt8], for requester: Requester
    ) async throws(ServiceError) -> String? {
        do throws(ReceiptFault) {
            return try await reader.transactionID(in: bytes, for: requester)
        } catch {
            throw ReceiptRules.error(of: error)
        }
    }

    /// The UUID by which answers about receipts name an app (`app_family_id`).
    package func appFamilyID(of app: App) -> String { identifiers.appFamilyID(of: app) }

    /// The purchases of a receipt, in its order.
    package func purchases(of receipt: Receipt, app: App) -> [InAppPurchase] {
        identifiers.purchases(of: receipt, app: app)
    }

    /// A receipt of an app, as it is now.
    ///
    /// - Throws: `receiptNotFound`, `storeUnavailable`.
    package func receipt(app: App, id: String) async throws(ServiceError) -> Receipt {
        guard let receipt = try await store.receipt(app: app.slug, id: id) else {
            throw ServiceError(.receiptNotFound, "App `\(app.slug)` has no receipt of this id.")
        }
        return receipt
    }

    /// A page of an app's receipts, latest recorded first, with the position of each.
    ///
    /// - Throws: `storeUnavailable`.
    package func receipts(
        app: App, _ query: ReceiptQuery
    ) async throws(ServiceError) -> [(position: Int64, receipt: Receipt)] {
        try await store.receipts(app: app.slug, query)
    }
}
