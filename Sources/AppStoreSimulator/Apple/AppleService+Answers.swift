import AppStoreAPI
import OpenSSL

extension AppleService {
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

    /// Get Transaction History, version 2.
    func history(_ identifier: String, _ app: RegisteredApp, _ call: Call) throws(Refusal) -> OutgoingResponse {
        let page = try state.withContent { content throws(Refusal) in
            let customer = try content.world.customer(
                identifier, bundleID: app.bundleID, environment: environment)
            let filter = try HistoryFilter(call.request.query)
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
        try check(ConsumptionBody(body), record.payload)
        return OutgoingResponse(status: 202)
    }

    private func sign(_ transactions: [TransactionPayload], _ call: Call) throws(Refusal) -> [String] {
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
    private static func isJSON(_ contentType: String?) -> Bool {
        let type = contentType?.prefix { $0 != ";" }.lowercased()
        return type?.filter { $0 != " " && $0 != "\t" } == "application/json"
    }
}
