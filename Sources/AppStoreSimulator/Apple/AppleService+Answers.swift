import AppStoreAPI
import OpenSSL

extension AppleService {
    /// How many refunds version 1 of their history shows.
    private static let refundsInVersion1 = 50

    /// Get Transaction Info.
    func transactionInfo(
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let record = try state.withContent { content throws(Refusal) in
            try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
        }
        let signed = try sign([record.payload], call)
        return .json(200, TransactionInfoResponse(signedTransactionInfo: signed.first).serialized())
    }

    /// Get Transaction History; version 1 leaves out consumables that the app has finished, unless they are revoked.
    func history(
        _ identifier: String, _ app: RegisteredApp, _ call: Call, version: Int
    ) throws(Refusal) -> OutgoingResponse {
        let page = try state.withContent { content throws(Refusal) in
            let customer = try content.world.customer(
                identifier, bundleID: app.bundleID, environment: environment)
            let filter = try HistoryFilter(
                call.request.query, leavingOut: version == 1 ? content.world.finished : [])
            return try content.world.historyPage(of: customer, filter: filter, size: content.pageSize)
        }
        let response = HistoryResponse(
            revision: page.revision.text, hasMore: page.hasMore, bundleId: app.bundleID, appAppleId: app.appAppleID,
            environment: environment.wireValue, signedTransactions: try sign(page.transactions, call))
        return .json(200, response.serialized())
    }

    /// Get Refund History, version 2.
    func refundHistory(
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let revisions = call.request.query.filter { $0.name == "revision" }
        guard revisions.count <= 1 else { throw .error(.invalidRequestRevision) }
        let page = try state.withContent { content throws(Refusal) in
            let customer = try content.world.customer(
                identifier, bundleID: app.bundleID, environment: environment)
            return try content.world.refundPage(
                of: customer, revision: revisions.first?.value, size: content.pageSize)
        }
        let response = RefundHistoryResponse(
            signedTransactions: try sign(page.transactions, call), revision: page.revision.text, hasMore: page.hasMore)
        return .json(200, response.serialized())
    }

    /// Get Refund History, version 1: the 50 latest, the latest first.
    func refundHistoryV1(
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let transactions = try state.withContent { content throws(Refusal) in
            let record = try content.world.original(identifier, of: inEnvironment(app))
            return content.world.latestRefunds(of: record.customer, limit: Self.refundsInVersion1)
        }
        var response = RefundLookupResponse()
        response.signedTransactions = try sign(transactions, call)
        return .json(200, response.serialized())
    }

    /// Send Consumption Information, either version.
    func consumption(
        _ identifier: String, _ app: RegisteredApp, _ call: Call,
        _ check: (ConsumptionBody, TransactionPayload) throws(Refusal) -> Void
    ) throws(Refusal) -> OutgoingResponse {
        guard let body = call.request.body else { throw .malformed(status: 413, "the body is too long") }
        guard Self.isJSON(call.request.contentType) else {
            throw .malformed(status: 415, "Content-Type is not application/json")
        }
        let record = try state.withContent { content throws(Refusal) in
            try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
        }
        let report = try ConsumptionBody(body)
        try check(report, record.payload)
        state.withContent { $0.refundDesk.note(RefundRequest.Decision(report), of: identifier) }
        return OutgoingResponse(status: 202)
    }

    /// The app on this server.
    func inEnvironment(_ app: RegisteredApp) -> AppInEnvironment {
        AppInEnvironment(bundleID: app.bundleID, environment: environment)
    }

    func sign(_ transactions: [TransactionPayload], _ call: Call) throws(Refusal) -> [String] {
        do throws(OpenSSLError) {
            return try transactions.map { (payload) throws(OpenSSLError) in
                guard let tampering = call.tampering else { return try authority.sign(payload, at: call.time) }
                return try authority.sign(payload, at: call.time, tampering)
            }
        } catch {
            throw .error(.generalInternal, message: "signing failed: \(error)")
        }
    }

    /// Parameters such as the character set do not matter.
    static func isJSON(_ contentType: String?) -> Bool {
        let type = contentType?.prefix { $0 != ";" }.lowercased()
        return type?.filter { $0 != " " && $0 != "\t" } == "application/json"
    }
}
