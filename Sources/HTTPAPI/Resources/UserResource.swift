import Domain
import JSON

/// What is known of a user, at a glance.
struct UserOverviewRoutes: Sendable {
    /// The most open cases that are shown; the list of cases has them all.
    private static let maximumCases = 50

    let service: UserOverviewService
    let consent: ConsentService
    let cases: CaseService

    /// `GET …/users/{user}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = UserRequest(&fields, app)
        guard fields.isValid, let request else { throw fields.error }
        let parts = Set(UserOverview.Part.allCases.filter { input.mayRead($0.scope, of: app) })
        let history = parts.contains(.consent) ? try await consent.history(app: app, user: request.user) : nil
        let (rescissions, unknown) =
            parts.contains(.consent) ? try await rescissions(of: request.user, app) : ([], nil)
        let openCases =
            parts.contains(.openCases) ? try await openCases(of: request.user, app, request.environment) : nil
        let overview = try await service.overview(
            of: request.user, parts: parts, isPartialAllowed: request.isPartialAllowed,
            input.call(app, request.environment))
        let includesSigned = request.includesSigned
        let active = overview.apple?.activeSubscriptions
        let capacity =
            SubscriptionBody.capacity(active ?? [], includesSigned: includesSigned)
            + 300 * ((overview.links?.count ?? 0) + (openCases?.count ?? 0))
        return Answer.object(capacity: capacity) { writer in
            writer.member("app", app.slug)
            writer.member("user", request.user.value)
            if let links = overview.links { LinkBody.write(links, to: &writer) }
            if let history { ConsentBody.writeCurrent(history, to: &writer) }
            if !rescissions.isEmpty { ConsentBody.write(rescissions, to: &writer) }
            if let openCases {
                writer.memberArray("openCases") { writer in
                    for refundCase in openCases { writer.object { CaseBody.writeSummary(refundCase, to: &$0) } }
                }
            }
            if let apple = overview.apple { Self.write(apple, includesSigned: includesSigned, to: &writer) }
            writer.memberArray("withheld") { writer in
                for part in UserOverview.Part.allCases where !parts.contains(part) { writer.value(part.rawValue) }
            }
            writer.member("complete", overview.isComplete && unknown == nil)
            writer.memberIfPresent("incompleteReason", overview.apple?.incompleteReason ?? unknown)
            writer.member("readAt", Timestamp.text(overview.readAt))
            GapBody.write(overview.apple?.gaps ?? [], requestID: input.requestID, to: &writer)
        }
    }

    /// What guardians rescinded; where that cannot be told, why, since the rest can.
    private func rescissions(
        of user: UserID, _ app: App
    ) async throws(ServiceError) -> ([GuardianRescission], unknown: String?) {
        do throws(ServiceError) {
            return (try await consent.rescissions(app: app, user: user), nil)
        } catch {
            guard error.reason == .consentUnknown else { throw error }
            return ([], error.message)
        }
    }

    private static func write(_ apple: UserOverview.Apple, includesSigned: Bool, to writer: inout JSONWriter) {
        writer.memberArray("accounts") { writer in
            for account in apple.accounts {
                writer.object { writer in
                    writer.member("kind", account.target.kind.rawValue)
                    writer.member("value", account.target.value)
                    writer.memberOrNull("environment", account.environment?.rawValue)
                }
            }
        }
        if let active = apple.activeSubscriptions {
            SubscriptionBody.write("activeSubscriptions", active, includesSigned: includesSigned, to: &writer)
        }
        if let count = apple.refundCount { writer.member("refundCount", count) }
        writer.member("othersOmitted", apple.othersOmitted)
    }

    private func openCases(
        of user: UserID, _ app: App, _ environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> [RefundCase] {
        var query = CaseQuery(limit: Self.maximumCases)
        query.states = [.open]
        query.owner = user
        query.environment = environment
        return try await cases.cases(app: app, query)
    }
}

/// A user's refunds and purchases, a page at a time.
struct UserPurchasesRoutes: Sendable {
    let service: UserPurchasesService

    /// `GET …/users/{user}/refunds`.
    func refunds(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await page(app, input) { _ in .refunds }
    }

    /// `GET …/users/{user}/transactions`.
    func transactions(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        // Ours is the order: newest first, whatever order Apple is read in.
        try await page(app, input) { .transactions(HistoryFilter(&$0, takesSort: false)) }
    }

    private func page(
        _ app: App, _ input: RequestInput, _ list: (inout FieldReader) -> UserList
    ) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let given = UserRequest(&fields, app)
        let list = list(&fields)
        let pageSize = fields.integer(
            "pageSize", in: .query, from: 1...service.limits.maximumPageSize, isRequired: false)
        let pageToken = fields.text("pageToken", in: .query)
        guard fields.isValid, let given else { throw fields.error }
        let request = UserPurchasesService.Request(
            user: given.user, list: list, pageSize: pageSize, pageToken: pageToken,
            isPartialAllowed: given.isPartialAllowed)
        let page = try await service.page(request, input.call(app, given.environment))
        let capacity = TransactionBody.capacity(page.transactions, includesSigned: given.includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.memberArray("transactions") { writer in
                for transaction in page.transactions {
                    writer.object { TransactionBody.write(transaction, includesSigned: given.includesSigned, to: &$0) }
                }
            }
            writer.member("othersOmitted", page.list.othersOmitted)
            writer.member("complete", page.list.incompleteReason == nil && page.list.gaps.isEmpty)
            writer.memberIfPresent("incompleteReason", page.list.incompleteReason)
            writer.member("readAt", Timestamp.text(page.list.readAt))
            GapBody.write(page.list.gaps, requestID: input.requestID, to: &writer)
            writer.memberIfPresent("nextPageToken", page.nextPageToken)
        }
    }
}

/// How the parts of an answer that could not be read are told.
enum GapBody {
    /// Writes the member `gaps`, unless there are none.
    static func write(_ gaps: [AccountGap], requestID: String, to writer: inout JSONWriter) {
        guard !gaps.isEmpty else { return }
        writer.memberArray("gaps") { writer in
            for gap in gaps {
                writer.object { writer in
                    writer.member("part", gap.part.rawValue)
                    writer.member("kind", gap.target.kind.rawValue)
                    writer.member("value", gap.target.value)
                    writer.memberOrNull("environment", gap.environment?.rawValue)
                    ProblemResponse.writeMember(gap.error, requestID: requestID, to: &writer)
                }
            }
        }
    }
}
