import Domain
import HTTPTypes
import JSON

/// The receipts that apps send.
///
/// Uploads are answered as the receipts API which this one takes the place of: its names, its codes, its shapes.
struct ReceiptRoutes: Sendable {
    /// The most receipts of a page.
    static let maximumPageSize = PageLimit.storedRows

    let apps: AppCatalog
    let service: ReceiptService
    let tokens: PageTokenCoder

    /// `POST …/receipts`: of the app of the path.
    func upload(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await upload(input, among: [app])
    }

    /// `POST /client/itunes_connect/receipts`: the receipt says which app it is of, among those that the caller may upload for.
    func uploadOfAnyApp(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let admitted = apps.all.filter { input.caller?.holds(.receiptsWrite, for: $0.slug) ?? true }
        return try await upload(input, among: admitted)
    }

    private func upload(_ input: RequestInput, among admitted: [App]) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let upload = ReceiptUpload(
            &fields, metadata: input.bodyMember("metadata"), requestAddress: input.sourceAddress)
        guard fields.isValid, let upload else { throw fields.error }
        switch try await service.upload(upload, among: admitted, caller: input.caller?.name ?? "") {
        case .confirmed(let receipt): return try answer(.ok, receipt)
        // What it is now may be another thing in a moment; no answer of ours may be stored, and this one least of all.
        case .queued(let receipt): return try answer(.partialContent, receipt)
        case .refused(let fault): throw ReceiptErrors.error(of: fault)
        }
    }

    /// `GET …/receipts`: latest recorded first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(&fields, of: "receipts", app, input, maximumSize: Self.maximumPageSize, tokens)
        var query = ReceiptQuery(limit: page.limit)
        query.user = fields.user(in: .query)
        query.isFraud = fields.boolean("fraud", in: .query, isRequired: false)
        query.since = fields.time("since", in: .query)
        try fields.finish()
        query.before = try page.position(Int64.init)
        let found = try await service.receipts(app: app, query)
        var hasMore = found.count > page.size
        // A page ends early where its receipts are large.
        if !hasMore { hasMore = try await isFollowed(found.last?.position, app, query) }
        let (receipts, next) = page.page(found, hasMore: hasMore) { String($0.position) }
        return Answer.object(capacity: 256 + receipts.reduce(0) { $0 + ReceiptBody.size(of: $1.receipt) }) { writer in
            writer.memberArray("receipts") { writer in
                for (_, receipt) in receipts {
                    writer.object { ReceiptBody.write(receipt, of: app, service, to: &$0) }
                }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// Whether the list goes on behind a position.
    private func isFollowed(
        _ position: Int64?, _ app: App, _ query: ReceiptQuery
    ) async throws(ServiceError) -> Bool {
        guard let position else { return false }
        var rest = query
        rest.before = position
        rest.limit = 1
        return try await !service.receipts(app: app, rest).isEmpty
    }

    /// `GET …/receipts/{receiptId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return try answer(.ok, try await service.receipt(app: app, id: try input.parameter("receiptId")))
    }

    /// `POST …/receipts:extractTransactionId`: as Apple's receipt utility, nothing is verified or kept.
    func extractTransactionID(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let bytes = ReceiptUpload.receipt(&fields)
        guard fields.isValid, let bytes else { throw fields.error }
        let identifier = try await service.transactionID(in: bytes, for: input.requester)
        return Answer.object { $0.memberOrNull("transactionId", identifier) }
    }

    private func answer(_ status: HTTPResponse.Status, _ receipt: Receipt) throws(ServiceError) -> Answer {
        let app = try apps.app(receipt.app)
        return Answer.object(status, capacity: ReceiptBody.size(of: receipt)) {
            ReceiptBody.write(receipt, of: app, service, to: &$0)
        }
    }
}

/// Failures of an upload, in the forms of the receipts API.
enum ReceiptErrors {
    /// A request that breaks rules: `{"errors": {"field": ["…"]}}`, every one of them; nil for any other failure.
    @Sendable static func answer(_ error: ServiceError) -> Answer? {
        guard error.reason == .invalidRequest || error.reason == .malformedJSON else { return nil }
        let violations =
            error.violations.isEmpty
            ? [Violation(field: "body", rule: "json", message: error.message)] : error.violations
        var fields: [(name: String, messages: [String])] = []
        for violation in violations {
            let message = text(violation)
            // At most `ServiceError.maximumViolations` of them.
            if let index = fields.firstIndex(where: { $0.name == violation.field }) {
                fields[index].messages.append(message)
            } else {
                fields.append((violation.field, [message]))
            }
        }
        return Answer.object(.unprocessableContent) { writer in
            writer.memberObject("errors") { writer in
                for (name, messages) in fields {
                    writer.memberArray(name) { writer in
                        for message in messages { writer.value(message) }
                    }
                }
            }
        }
    }

    /// A rule that programs may ask about, in capitals, comes before its sentence.
    private static func text(_ violation: Violation) -> String {
        violation.rule.first?.isUppercase == true ? "\(violation.rule): \(violation.message)" : violation.message
    }

    /// A receipt whose signature is not Apple's.
    static func error(of fault: ReceiptSignatureFault) -> ServiceError {
        let message =
            switch fault {
            case .signatureInvalid: "The signature of `receipt` does not verify, or there is none."
            case .contentAltered: "What `receipt` holds is not what was signed."
            case .chainNotTrusted: "No certificate of Apple's that was valid when `receipt` was created has signed it."
            case .markerMissing: "The certificate that signed `receipt` is not one that signs receipts."
            case .algorithmNotAccepted:
                "`receipt` is signed with SHA-1, though Apple had stopped doing so when it was created."
            }
        return ServiceError(
            .receiptNotSigned, message,
            violations: [Violation(field: "receipt", rule: fault.rawValue, message: message)])
    }
}
