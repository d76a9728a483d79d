import Domain
import JSON

/// A user's refunds and purchases, a page at a time.
struct UserPurchasesRoutes: Sendable {
    private static let parameters: Set<String> = ["pageSize", "pageToken"]

    let service: UserPurchasesService

    /// `GET …/users/{user}/refunds`.
    func refunds(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await page(app, input, besides: []) { .refunds }
    }

    /// `GET …/users/{user}/transactions`.
    func transactions(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        // Ours is the order: newest first, whatever order Apple is read in.
        let filters = HistoryFilter.parameterNames.subtracting(["sort"])
        return try await page(app, input, besides: filters) { () throws(ServiceError) in
            .transactions(try HistoryFilter(query: input.query.filter { $0.name != "sort" }))
        }
    }

    private func page(
        _ app: App, _ input: RequestInput, besides filters: Set<String>, _ list: () throws(ServiceError) -> UserList
    ) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        let given = checks.run { () throws(ServiceError) in
            try UserRequest(app, input, besides: filters.union(Self.parameters))
        }
        let list = checks.run(list)
        let pageSize = checks.run { () throws(ServiceError) in try input.single("pageSize") }
        let pageToken = checks.run { () throws(ServiceError) in try input.single("pageToken") }
        guard checks.havePassed, let given, let list, let pageSize, let pageToken else { throw checks.error }
        let request = UserPurchasesService.Request(
            user: given.user, list: list, pageSize: pageSize.map { Int($0) ?? -1 }, pageToken: pageToken,
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
