import Domain
import Foundation
import HTTPTypes
import JSON

/// The refund requests that Apple asks about.
struct CaseRoutes: Sendable {
    private static let filters: Set<String> = ["state", "user", "transactionId", "environment"]
    /// The longest `note`, in bytes of UTF-8.
    private static let maximumNoteBytes = 500

    let service: CaseService
    let tokens: PageTokenCoder
    let now: WallClock

    /// `GET …/cases`: soonest deadline first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: Self.filters.union(PageRequest.parameters))
        }
        let page = checks.run { () throws(ServiceError) in
            try PageRequest(of: "cases", app, input, maximumSize: CaseQuery.maximumPageSize, tokens)
        }
        let states = checks.run { () throws(ServiceError) in try input.choices("state", RefundCase.State.self) }
        let owner = checks.run { () throws(ServiceError) in try input.userFilter() }
        let transactionID = checks.run { () throws(ServiceError) in try input.transactionFilter() }
        let environment = checks.run { () throws(ServiceError) in try input.environment(for: app) }
        guard checks.havePassed, let page, let states, let owner, let transactionID, let environment else {
            throw checks.error
        }
        var query = CaseQuery(limit: page.limit)
        query.states = states
        query.owner = owner
        query.transactionID = transactionID
        query.environment = environment
        query.after = try page.position(CaseQuery.Position.init(text:))
        let found = try await service.cases(app: app, query)
        let (cases, next) = page.page(found) { CaseQuery.Position(deadline: $0.deadline, id: $0.id).text }
        let now = now()
        return Answer.object(capacity: 256 + cases.count * CaseBody.size) { writer in
            writer.memberArray("cases") { writer in
                for refundCase in cases { writer.object { CaseBody.write(refundCase, now: now, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET …/cases/{caseId}`: with its deliveries.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        return try await answer(try await service.refundCase(app: app, id: try input.parameter("caseId")))
    }

    /// `POST …/cases/{caseId}:decline`.
    func decline(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        var fields = BodyFields(try input.jsonObject())
        let note = fields.text("note", isRequired: false, bytes: 1...Self.maximumNoteBytes)
        fields.refuseUnknown()
        guard fields.havePassed else { throw fields.error }
        let declined = try await service.decline(
            app: app, id: try input.parameter("caseId"), note: note, caller: input.caller?.name ?? "")
        return try await answer(declined)
    }

    private func answer(_ refundCase: RefundCase) async throws(ServiceError) -> Answer {
        let deliveries = try await service.deliveries(of: refundCase)
        let now = now()
        return Answer.object(capacity: CaseBody.size + deliveries.count * DeliveryBody.size) { writer in
            CaseBody.write(refundCase, now: now, to: &writer)
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
