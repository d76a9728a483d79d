import Domain
import Foundation
import HTTPTypes
import JSON

/// The refund requests that Apple asks about.
struct CaseRoutes: Sendable {
    /// The longest `note`, in bytes of UTF-8.
    private static let maximumNoteBytes = 500

    let service: CaseService
    let tokens: PageTokenCoder
    let clock: ServiceClock

    /// `GET …/cases`: soonest deadline first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(
            &fields, of: "cases", app, input, maximumSize: CaseQuery.maximumPageSize, tokens)
        var query = CaseQuery(limit: page.limit)
        query.states = fields.choices("state", RefundCase.State.self)
        query.owner = fields.user(in: .query)
        query.transactionID = fields.identifier("transactionId", .transaction, in: .query, isRequired: false)
        query.environment = fields.environment(for: app)
        try fields.finish()
        query.after = try page.position(CaseQuery.Position.init(text:))
        let found = try await service.cases(app: app, query)
        let (cases, next) = page.page(found) { CaseQuery.Position(deadline: $0.deadline, id: $0.id).text }
        let time = CaseBody.Time(clock)
        return Answer.object(capacity: 256 + cases.count * CaseBody.size) { writer in
            writer.memberArray("cases") { writer in
                for refundCase in cases { writer.object { CaseBody.write(refundCase, at: time, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET …/cases/{caseId}`: with its deliveries.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return try await answer(try await service.refundCase(app: app, id: try input.parameter("caseId")))
    }

    /// `POST …/cases/{caseId}:decline`.
    func decline(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let note = fields.text("note", isRequired: false, bytes: 1...Self.maximumNoteBytes)
        try fields.finish()
        let declined = try await service.decline(
            app: app, id: try input.parameter("caseId"), note: note, caller: input.caller?.name ?? "")
        return try await answer(declined)
    }

    private func answer(_ refundCase: RefundCase) async throws(ServiceError) -> Answer {
        let deliveries = try await service.deliveries(of: refundCase)
        let time = CaseBody.Time(clock)
        return Answer.object(capacity: CaseBody.size + deliveries.count * DeliveryBody.size) { writer in
            CaseBody.write(refundCase, at: time, to: &writer)
            // Beside the outcome: what was asked for, by the answer that Apple accepted.
            let answer = deliveries.last { $0.state == .accepted }
            writer.memberOrNull("refundPreference", answer?.refundPreference?.rawValue)
            writer.memberArray("deliveries") { writer in
                for delivery in deliveries { writer.object { DeliveryBody.write(delivery, to: &$0) } }
            }
        }
    }
}

extension CaseQuery.Position {
    /// Both parts in one text; the deadline in UNIX milliseconds, as precise as it is kept.
    fileprivate var text: String { "\(Int64((deadline.timeIntervalSince1970 * 1000).rounded())) \(id)" }

    fileprivate init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let milliseconds = Int64(parts[0]) else { return nil }
        self.init(deadline: Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000), id: String(parts[1]))
    }
}

/// The case object of our API.
enum CaseBody {
    /// Room that a case takes.
    static let size = 1024

    /// What tells how much time is left.
    struct Time {
        /// Nil while the time of day is in doubt.
        let now: Date?

        /// For records that tell no time that passes.
        static let unknown = Time(now: nil)

        private init(now: Date?) { self.now = now }

        init(_ clock: ServiceClock) {
            let now = clock.now()
            self.now = clock.isCertain ? now : nil
        }
    }

    static func write(_ refundCase: RefundCase, at time: Time, to writer: inout JSONWriter) {
        writeSummary(refundCase, to: &writer)
        writer.member("app", refundCase.app)
        writer.memberOrNull("owner", refundCase.owner?.value)
        writer.member("late", refundCase.isLate)
        writer.memberOrNull("secondsLeft", time.now.flatMap { secondsLeft(of: refundCase, now: $0) })
        writer.member("requestedAt", Timestamp.text(refundCase.requestedAt))
        writer.member("openedAt", Timestamp.text(refundCase.openedAt))
        writer.memberObject("purchase") { write(refundCase.purchase, refundCase.terms, to: &$0) }
        writer.memberArray("reminders") { writer in
            for request in refundCase.requests.dropFirst() { write(request, to: &writer) }
        }
        if let decline = refundCase.decline {
            writer.memberObject("decline") { writer in
                writer.member("caller", decline.caller)
                writer.memberOrNull("note", decline.note)
                writer.member("at", Timestamp.text(decline.at))
            }
        } else {
            writer.memberNull("decline")
        }
        writer.memberOrNull("outcome", refundCase.outcome?.rawValue)
        writer.memberOrNull("decidedAt", refundCase.decidedAt.map(Timestamp.text))
        writer.memberOrNull("revocationPercentage", refundCase.revocationPercentage.map(Int64.init))
    }

    /// What a problem tells of a case, so that its reader can pick one.
    static func writeSummary(_ refundCase: RefundCase, to writer: inout JSONWriter) {
        writer.member("id", refundCase.id)
        writer.member("state", refundCase.state.rawValue)
        writer.member("transactionId", refundCase.transactionID)
        writer.member("environment", refundCase.environment.rawValue)
        writer.member("deadline", Timestamp.text(refundCase.deadline))
        writer.memberOrNull("reason", refundCase.reason)
    }

    /// Whole seconds, rounded down so that nobody counts on more; nil once the case is over, or answered.
    private static func secondsLeft(of refundCase: RefundCase, now: Date) -> Int64? {
        guard refundCase.state == .open else { return nil }
        return max(0, Int64(refundCase.deadline.timeIntervalSince(now).rounded(.down)))
    }

    private static func write(_ purchase: PurchaseFacts, _ terms: PurchaseTerms, to writer: inout JSONWriter) {
        writer.member("originalTransactionId", purchase.originalTransactionID)
        writer.memberOrNull("appTransactionId", purchase.appTransactionID)
        writer.memberOrNull("appAccountToken", purchase.appAccountToken)
        writer.memberOrNull("productId", purchase.productID)
        writer.memberOrNull("type", purchase.productType?.rawValue)
        writer.member("purchaseDate", Timestamp.text(purchase.purchaseDate))
        writer.memberOrNull("price", terms.price)
        writer.memberOrNull("currency", terms.currency)
        writer.memberOrNull("storefront", terms.storefront)
    }

    private static func write(_ request: RefundCase.Request, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationUUID", request.notificationUUID)
            writer.member("signedAt", Timestamp.text(request.signedAt))
            writer.member("receivedAt", Timestamp.text(request.receivedAt))
            writer.memberOrNull("reason", request.reason)
        }
    }
}
