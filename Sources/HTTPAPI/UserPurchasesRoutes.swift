import Domain
import JSON

/// A user's refunds and purchases, a page at a time.
struct UserPurchasesRoutes: Sendable {
    private static let parameters: Set<String> = ["environment", "include", "pageSize", "pageToken", "partial"]

    let service: UserPurchasesService

    /// `GET …/users/{user}/refunds`.
    func refunds(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: Self.parameters)
        return try await page(.refunds, app, input)
    }

    /// `GET …/users/{user}/transactions`.
    func transactions(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        // Ours is the order: newest first, whatever order Apple is read in.
        let filters = HistoryFilter.parameterNames.subtracting(["sort"])
        try input.refuseUnknownQuery(besides: Self.parameters.union(filters))
        return try await page(.transactions(try HistoryFilter(query: input.query)), app, input)
    }

    private func page(_ list: UserList, _ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let includesSigned = try input.includesSigned()
        let pageSize = try input.single("pageSize").map { text in Int(text) ?? -1 }
        let request = UserPurchasesService.Request(
            user: try UserID(try input.parameter("user")), list: list, pageSize: pageSize,
            pageToken: try input.single("pageToken"), isPartialAllowed: try input.flag("partial"))
        let call = UpstreamCall(app: app, environment: try input.environment(for: app), deadline: input.deadline)
        let page = try await service.page(request, call)
        let capacity = TransactionBody.capacity(page.transactions, includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.memberArray("transactions") { writer in
                for transaction in page.transactions {
                    writer.object { TransactionBody.write(transaction, includesSigned: includesSigned, to: &$0) }
                }
            }
            write(page.list, requestID: input.requestID, to: &writer)
            writer.memberIfPresent("nextPageToken", page.nextPageToken)
        }
    }

    private func write(_ list: UserPurchases, requestID: String, to writer: inout JSONWriter) {
        writer.member("othersOmitted", list.othersOmitted)
        writer.member("complete", list.incompleteReason == nil && list.gaps.isEmpty)
        writer.memberIfPresent("incompleteReason", list.incompleteReason)
        writer.member("readAt", Timestamp.text(list.readAt))
        guard !list.gaps.isEmpty else { return }
        writer.memberArray("gaps") { writer in
            for gap in list.gaps {
                writer.object { writer in
                    writer.member("kind", gap.target.kind.rawValue)
                    writer.member("value", gap.target.value)
                    writer.memberOrNull("environment", gap.environment?.rawValue)
                    writer.memberObject("problem") {
                        ProblemResponse.write(
                            gap.error, status: ProblemResponse.status(of: gap.error), requestID: requestID, to: &$0)
                    }
                }
            }
        }
    }
}

extension RequestInput {
    /// Whether `include=signed` asks for the signed form.
    ///
    /// - Throws: `invalidRequest`.
    func includesSigned() throws(ServiceError) -> Bool {
        guard let include = try single("include") else { return false }
        guard include == "signed" else {
            throw .invalid([Violation(field: "include", rule: "enum", message: "`include` can only be `signed`.")])
        }
        return true
    }
}
